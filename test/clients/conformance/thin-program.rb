# The lines of docs/internals/client-contract.md around the thin client: what `npm run conformance` starts.
require_relative "thin-client"

# A request that runs out of time costs its connection of HTTP/1.1, so a late server gets a new one. And one process of
# Ruby is too slow for a fleet of 2,000.
LEFT_OUT = %w[
  wrong-certificates late-after-restart fleet-restart fleet-stall names streams-apart two-regions large-chunks
  invalid-chunks fresh-first stepped-clock read-alike
].freeze
GRACE_MS = 5_000

# A client that is open, with its buffer if it has one.
Session = Struct.new(:client, :buffer) do
  def next_id = (buffer || client).next_id
end

SESSIONS = {}

def open_client(keys)
  client = Client.new(keys)
  SESSIONS[keys["client"]] = Session.new(client, keys["buffer"] == "1" ? Buffer.new(client, keys) : nil)
  {}
end

def call(keys)
  session = SESSIONS.fetch(keys["client"])
  results = Array.new((keys["count"] || 1).to_i) do
    started = now_ms
    shown = begin
      { id: session.next_id.to_s }
    rescue Failure => failure
      failure.shown
    end
    shown.merge(durationMs: now_ms - started)
  end
  { results: }
end

# Takes IDs at an even rate. A call that fails is counted, and not made again.
def take(keys)
  session, per_second, seconds = SESSIONS.fetch(keys["client"]), keys["per_second"].to_i, keys["seconds"].to_f
  started, reasons, count, wait_max, first = now_ms, Hash.new(0), 0, 0, -1
  File.open(keys["out"], "wb") do |out|
    (per_second * seconds).to_i.times do |index|
      break if now_ms > started + seconds * 1_000 + GRACE_MS
      due = started + index * 1_000.0 / per_second
      sleep((due - now_ms) / 1_000) if due > now_ms
      called = now_ms
      begin
        out.write([session.next_id, wall_ms].pack("Q>2"))
        count += 1
        first = now_ms - started if first.negative?
      rescue Failure => failure
        reasons[failure.reason] += 1
      end
      wait_max = [wait_max, now_ms - called].max
    end
  end
  { count:, failures: reasons.values.sum, reasons:, waitMaxMs: wait_max, firstMs: first }
end

COMMANDS = {
  "hello" => ->(_) { { language: "ruby", leavesOut: LEFT_OUT } },
  "open" => method(:open_client),
  "call" => method(:call),
  "take" => method(:take),
  "stats" => ->(keys) { SESSIONS.fetch(keys["client"]).buffer.stats },
  "close" => ->(keys) { SESSIONS.delete(keys["client"]) && {} },
}.freeze

$stdout.sync = true
$stdin.each_line(chomp: true) do |line|
  command, *pairs = line.split
  keys = pairs.to_h { _1.split("=", 2) }
  result = begin
    COMMANDS.fetch(command).call(keys)
  rescue Failure => failure
    { error: failure.shown }
  end
  puts JSON.generate(result)
end
