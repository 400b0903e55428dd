-- The same GET again and again. Takes the key, when one is needed.
dofile("outcome.lua")

function init(arguments)
  if arguments[1] then
    wrk.headers["Authorization"] = "Bearer " .. arguments[1]
  end
end
