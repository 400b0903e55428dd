-- One event each time. Takes the key, what campaigns are called, and how many take turns.
dofile("outcome.lua")

local name, campaigns, number

function init(arguments)
  wrk.headers["Authorization"] = "Bearer " .. arguments[1]
  wrk.headers["Content-Type"] = "application/json"
  name, campaigns = arguments[2], tonumber(arguments[3])
  number = 0
end

function request()
  local second = number % 86400
  local body = string.format(
    '{"campaign": {"external_id": "%s-%d", "nom": "Benchmark", "statut": "en_cours"}, "evenements": [{'
      .. '"email": "person.%d@example.com", "type": "clique", "id": "evt-%d", "ip": "192.0.2.%d", "methode": "GET", '
      .. '"survenu_at": "2026-01-%02dT%02d:%02d:%02dZ", "user_agent": "Mozilla/5.0 (X11; Linux) Firefox/140.0"}]}',
    name,
    number % campaigns,
    number % 2000,
    number,
    number % 200,
    5 + math.floor(number / 86400),
    math.floor(second / 3600),
    math.floor(second / 60) % 60,
    second % 60
  )
  number = number + 1
  return wrk.format("POST", nil, nil, body)
end
