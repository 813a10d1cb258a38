# A thin client in a fifth language, by Connect JSON over HTTP/1.1, without a gem. It follows the rules of
# docs/internals/client-contract.md, but has no reserve for an outage, no streams and no offline functions.
require "json"
require "net/http"
require "openssl"

SERVICE = "/snowlane.v1.IdService/".freeze

def now_ms = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)
def wall_ms = Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)

# An error with a reason. As a string it is `REASON: text (endpoint)`.
class Failure < StandardError
  attr_reader :reason, :code, :metadata, :retry_after_ms

  def initialize(reason, text, code: "UNAVAILABLE", metadata: {}, retry_after_ms: nil, endpoint: nil)
    super("#{reason}: #{text}#{" (#{endpoint})" if endpoint}")
    @reason, @code, @metadata, @retry_after_ms = reason, code, metadata, retry_after_ms
  end

  # The same error of a client that no server ever answered.
  def at_first = dup.tap { |copy| copy.instance_variable_set(:@metadata, metadata.merge("answered" => "never")) }

  def absence? = %w[refused no_address].include?(metadata["connection"])
  def mistake? = absence? || %w[not_tls untrusted not_grpc].include?(metadata["connection"])
  def first? = metadata["answered"] == "never"
  def permanent? = !%w[UNAVAILABLE RESOURCE_EXHAUSTED DEADLINE_EXCEEDED].include?(code) || first?
  def retried? = code == "UNAVAILABLE" || %w[QUOTA_EXCEEDED DEADLINE_EXCEEDED DEPLOYMENT_MISMATCH].include?(reason)
  def shown = { reason:, code:, metadata:, retryAfterMs: retry_after_ms, text: message }
end

# One server, the connection to it, and how it has been doing.
class Endpoint
  attr_reader :url, :down_until
  attr_accessor :last_failure

  def initialize(url)
    @url, @uri, @down_until, @failures_in_row = url, URI(url), 0, 0
  end

  # Asks once. A connection that broke, or that has not answered in time, is never used again.
  def ask(method, body, limit_ms)
    answer = connection(limit_ms).post(SERVICE + method, JSON.generate(body), "content-type" => "application/json")
    raise refusal_of(answer) if answer.code != "200"
    JSON.parse(answer.body)
  rescue Net::OpenTimeout, Net::ReadTimeout, Net::WriteTimeout
    leave("no answer in #{limit_ms.round} ms", "DEADLINE_EXCEEDED")
  rescue Errno::ECONNREFUSED
    leave("start a server there, or correct the endpoint", "refused")
  rescue OpenSSL::SSL::SSLError => error
    untrusted = error.message.include?("certificate")
    leave(untrusted ? "the certificate is not trusted" : "the server does not speak TLS", untrusted ? "untrusted" : "not_tls")
  rescue Net::HTTPBadResponse, JSON::ParserError
    leave("something other than a Snowlane server answers there", "not_grpc")
  rescue SocketError
    leave("the host has no address", "no_address")
  rescue SystemCallError, IOError => error
    hint = "; if the server speaks TLS, begin the endpoint with https://" if @uri.scheme == "http"
    leave("#{error.message}#{hint}", "closed")
  end

  def note_success
    @failures_in_row, @last_failure, @down_until = 0, nil, 0
  end

  def note_failure(failure, never_answered)
    @failures_in_row += 1
    exponent = never_answered && failure.absence? ? [@failures_in_row, 2].min : @failures_in_row
    delay = rand * [2_000, 100 * 2**exponent].min
    @down_until = now_ms + [delay, [failure.retry_after_ms || 0, 1_000].min].max
    @last_failure = failure
  end

  private

  def connection(limit_ms)
    @http ||= Net::HTTP.new(@uri.hostname, @uri.port, nil).tap do |http|
      http.use_ssl = @uri.scheme == "https"
      http.keep_alive_timeout, http.max_retries = 60, 0
    end
    @http.open_timeout = @http.read_timeout = @http.write_timeout = limit_ms / 1_000.0
    @http.started? ? @http : @http.start
  end

  def leave(text, kind)
    @http.finish if @http&.started?
    raise Failure.new("DEADLINE_EXCEEDED", text, code: kind, endpoint: url) if kind == "DEADLINE_EXCEEDED"
    raise Failure.new("UNREACHABLE", text, metadata: { "connection" => kind }, endpoint: url)
  ensure
    @http = nil
  end

  # What the server's own error says.
  def refusal_of(answer)
    error = answer["content-type"].to_s.include?("json") ? JSON.parse(answer.body) : {}
    info, retry_info = %w[ErrorInfo RetryInfo].map do |type|
      (error["details"] || []).find { _1["type"] == "google.rpc.#{type}" }&.fetch("debug", nil) || {}
    end
    delay = retry_info["retryDelay"]&.then { (_1.to_f * 1_000).round }
    code = error.fetch("code", answer.code == "404" ? "unimplemented" : "unknown").upcase
    # Nobody here cancelled: the server has dropped the call.
    code = "UNAVAILABLE" if code == "CANCELED"
    reason = info["reason"] || (code == "UNAVAILABLE" ? "UNREACHABLE" : "RPC_FAILED")
    Failure.new(reason, error["message"] || "HTTP #{answer.code}", code:, metadata: info["metadata"] || {},
                retry_after_ms: delay, endpoint: url)
  end
end

# A client of one deployment. One call at a time.
class Client
  def initialize(keys)
    @endpoints = keys["endpoints"].split(",").map { Endpoint.new(_1) }
    @current = @endpoints.sample
    @timeout_ms, @attempt_ms = (keys["timeout_ms"] || 5_000).to_f, (keys["attempt_timeout_ms"] || 2_000).to_f
    @retry_max = (keys["retry_max"] || 3).to_i
  end

  def timeout_ms = @timeout_ms

  def next_id
    id = call("NextId", {}).fetch("id", 0).to_i
    raise Failure.new("INVALID_RESPONSE", "the ID #{id} cannot be", code: "INTERNAL") unless id.between?(1, 2**63 - 1)
    id
  end

  # The attempts of one call. The limit of each is twice that of the one before, up to that of the client.
  def call(method, body, limit_ms: @attempt_ms)
    deadline = now_ms + @timeout_ms
    meet_all if @deployment.nil?
    raise @mismatch if @mismatch
    last = nil
    (0..@retry_max).each do |tries|
      pause_ms = [last&.reason == "QUOTA_EXCEEDED" ? quota_pause(last) : choose, 0].max
      raise last || @current.last_failure if now_ms + pause_ms >= deadline
      sleep(pause_ms / 1_000)
      answer, last = attempt(method, body, [limit_ms, deadline - now_ms].min)
      return answer if answer
      raise last if !last.retried? || last.first? || tries == @retry_max
      limit_ms = [limit_ms * 2, @attempt_ms].min
    end
  end

  private

  def attempt(method, body, limit_ms)
    answer = @current.ask(method, body, limit_ms)
    admit(@current, answer["deployment"].to_i)
    @has_answered = true
    @current.note_success
    [answer, nil]
  rescue Failure => failure
    @has_answered ||= failure.metadata["connection"].nil? && failure.reason != "DEADLINE_EXCEEDED"
    return [nil, failure] if failure.reason == "QUOTA_EXCEEDED" || !failure.retried?
    @current.note_failure(failure, !@has_answered)
    is_first = !@has_answered && @endpoints.all? { _1.last_failure&.mistake? }
    [nil, is_first ? failure.at_first : failure]
  end

  # Stays with the endpoint in use while it is up. How long to wait before the next attempt.
  def choose
    up = @endpoints.select { _1.down_until <= now_ms }
    return 0 if up.include?(@current)
    @current = up.sample || @endpoints.min_by(&:down_until)
    up.empty? ? @current.down_until - now_ms : rand * 20
  end

  def quota_pause(failure) = [failure.retry_after_ms || 0, 5_000].min * (1 + rand / 2)

  # Asks every server for its deployment before the first ID, for half a second at most.
  def meet_all
    return @deployment = 0 if @endpoints.size == 1
    limit_ms = 500
    numbers = @endpoints.map do |endpoint|
      Thread.new do
        print = Endpoint.new(endpoint.url).ask("GetInfo", {}, limit_ms)["deploymentFingerprint"].to_s
        print.empty? ? nil : [print[0, 8].to_i(16), endpoint]
      rescue Failure
        nil
      end
    end.filter_map(&:value)
    @deployment, @first_url = numbers.first&.then { [_1[0], _1[1].url] } || [0, nil]
    numbers.each { |number, endpoint| @mismatch ||= mismatch(endpoint, number) if number != @deployment }
  end

  # Takes in the deployment of an answer, before any ID of it is read.
  def admit(endpoint, number)
    return if number.zero?
    @deployment, @first_url = number, endpoint.url if @deployment.to_i.zero?
    raise mismatch(endpoint, number) if number != @deployment
  end

  def mismatch(endpoint, number)
    text = format("this server is of deployment %08x, and %s of %08x", number, @first_url, @deployment)
    Failure.new("DEPLOYMENT_MISMATCH", text, code: "FAILED_PRECONDITION", endpoint: endpoint.url)
  end
end

# IDs at hand, which a thread of its own renews.
class Buffer
  # IDs of one run of an answer, which was asked for at `asked` by the two clocks.
  Run = Struct.new(:first, :count, :stride, :asked, :used)

  def initialize(client, keys)
    @client, @max_age_ms = client, (keys["max_age_ms"] || 5_000).to_f
    @runs, @handed_out, @reserved, @dropped, @waits = [], 0, 0, 0, 0
    @mutex, @changed = Mutex.new, ConditionVariable.new
    @rate, @marks, @rtt_ms, @size = 0, [[now_ms, 0]] * 2, nil, 0
  end

  def next_id
    @mutex.synchronize do
      deadline, @failure = now_ms + @client.timeout_ms, nil
      @waits += 1 if stock.zero?
      loop do
        drop_old
        refill if stock <= [@size / 4, 8 * @rate * (@rtt_ms || 0) / 1_000].max
        return claim if stock.positive?
        late = now_ms >= deadline
        raise @failure || Failure.new("DEADLINE_EXCEEDED", "no stock", code: "DEADLINE_EXCEEDED") if late || @failure&.permanent?
        @changed.wait(@mutex, (deadline - now_ms) / 1_000)
      end
    end
  end

  def stats = { handedOut: @handed_out, reserved: @reserved, dropped: @dropped, waits: @waits, stock: }

  private

  def stock = @runs.sum { _1.count - _1.used }

  def claim
    run = @runs.first
    id = run.first + run.used * run.stride
    run.used += 1
    @runs.shift if run.used == run.count
    @handed_out += 1
    id
  end

  def drop_old
    old, @runs = @runs.partition { |run| [now_ms - run.asked[0], wall_ms - run.asked[1]].max > @max_age_ms }
    @dropped += old.sum { _1.count - _1.used }
  end

  # One reservation at a time, by a thread, so that no caller's deadline ends it.
  def refill
    return if @is_asking
    @is_asking = true
    count = wanted
    Thread.new { take_in(count, [now_ms, wall_ms]) }
  end

  def wanted
    @marks = [@marks[1], [now_ms, @handed_out]] if now_ms - @marks[1][0] >= 1_000
    since, count = @marks[0]
    @rate = [(@handed_out - count) / [1, (now_ms - since) / 1_000].max, @rate / 2].max
    grown = now_ms - @last_asked.to_f < 250 ? 2 * @size : 0
    @last_asked = now_ms
    [[@rate, grown, 8].max.ceil, 65_536].min
  end

  def take_in(count, asked)
    limit_ms = @rtt_ms ? (4 * @rtt_ms).clamp(100, 1_000) : 500
    answer = @client.call("ReserveIds", { count: }, limit_ms:)
    runs = (answer["runs"] || []).map { Run.new(_1["firstId"].to_i, _1["count"].to_i, _1["stride"].to_i, asked, 0) }
    check(runs, count)
    @mutex.synchronize do
      @rtt_ms = @rtt_ms.to_f * 0.875 + (now_ms - asked[0]) * (@rtt_ms ? 0.125 : 1)
      @runs, @size, @failures = @runs + runs, runs.sum(&:count), 0
      @reserved += @size
    end
  rescue Failure => failure
    @failures = @failures.to_i + 1
    @failure = failure
    sleep(rand * [2, 0.1 * 2**@failures].min) unless failure.permanent?
  ensure
    @mutex.synchronize { @is_asking = false; @changed.broadcast }
  end

  # Refuses an answer that cannot be, whole.
  def check(runs, count)
    sorted = runs.sort_by(&:first)
    last_of = ->(run) { run.first + (run.count - 1) * run.stride }
    is_well = runs.any? && runs.all? { _1.count >= 1 && _1.stride >= 1 && _1.first >= 1 && last_of.(_1) < 2**63 } &&
              runs.sum(&:count) <= count && sorted.each_cons(2).all? { |a, b| last_of.(a) < b.first }
    raise Failure.new("INVALID_RESPONSE", "these runs cannot be", code: "INTERNAL") unless is_well
  end
end
