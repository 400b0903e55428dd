-- What every script ends with: one line of JSON.
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "microseconds": %d, "median": %d, "failed": %d}\n',
    summary.requests,
    summary.duration,
    latency:percentile(50),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout
  ))
end
