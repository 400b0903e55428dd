"""Mail of access: written in the company's language, and taken to an SMTP server, into a folder, or nowhere.

`SmtpMailer` sends, `FileMailer` writes what would be sent, for demos and development, and `NoMailer` stands where
neither is configured and says so. What a message says is in `templates/`.
"""

from awareness_smtp.dkim_signing import DkimKey, parse_dkim_key, parse_dkim_selector, signed
from awareness_smtp.file_mailer import FileMailer
from awareness_smtp.mail_settings import (
    InvalidMailSetting,
    MailServer,
    Security,
    Sender,
    parse_login_url,
    parse_mail_server,
    parse_sender,
)
from awareness_smtp.messages import InvitationMessages, Message
from awareness_smtp.no_mailer import NoMailer
from awareness_smtp.smtp_mailer import SmtpMailer

__all__ = [
    "DkimKey",
    "FileMailer",
    "InvalidMailSetting",
    "InvitationMessages",
    "MailServer",
    "Message",
    "NoMailer",
    "Security",
    "Sender",
    "SmtpMailer",
    "parse_dkim_key",
    "parse_dkim_selector",
    "parse_login_url",
    "parse_mail_server",
    "parse_sender",
    "signed",
]
