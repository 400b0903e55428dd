-- A person each time. Takes the key, the number of the first person, and how many there are before they begin again.
dofile("outcome.lua")

local first, count, number

function init(arguments)
  wrk.headers["Authorization"] = "Bearer " .. arguments[1]
  wrk.headers["Content-Type"] = "application/json"
  first, count = tonumber(arguments[2]), tonumber(arguments[3])
  number = 0
end

function request()
  local person = first + number % count
  number = number + 1
  local body = string.format(
    '{"external_id": "RH-%07d", "email": "camille.durand.%d@example.com", "nom": "Durand", "prenom": "Camille", '
      .. '"fonction": "Comptable", "telephone": "+33 1 23456789", "adresse": "7 rue de la Paix, 75002 Paris"}',
    person,
    person
  )
  return wrk.format("POST", nil, nil, body)
end
