# Uses the program that Learn shows: drive.mjs has the commands.
require_relative "snowflake_id"

def print_lives(count, each)
  count.times do
    ids = SnowflakeId::Generator.new(0, 1)
    first = last = ids.next
    (each - 1).times do
      id = ids.next
      abort "#{id} came after #{last}" if id <= last
      last = id
    end
    puts "#{first} #{last}"
  end
end

def outcome_of(history)
  now_ms = 1_700_000_000_000
  looks = 0
  Process.define_singleton_method(:clock_gettime) do |*|
    now_ms += 1 if looks > 0
    looks += 1
    now_ms
  end
  ids = SnowflakeId::Generator.new(0, 1)
  history.each_char.map do |step|
    looks = 0
    if step == "m"
      begin
        next ids.next.to_s
      rescue RuntimeError => error
        raise unless error.message.include?("clock is behind")
        next "behind"
      end
    end
    now_ms += { "t" => 1, "b" => -2, "r" => 0 }.fetch(step)
    ids = SnowflakeId::Generator.new(0, 1) if step == "r"
    "-"
  end
end

def print_threads(count, each)
  ids = SnowflakeId::Generator.new(0, 1)
  threads = Array.new(count) { Thread.new { Array.new(each) { ids.next } } }
  threads.each { |thread| puts thread.value.join(" ") }
end

command, *texts = ARGV
values = texts.map { |text| Integer(text, 10) }
case command
when "make" then puts SnowflakeId.make(*values)
when "decode" then values.each { |id| puts SnowflakeId.decode(id).values.join(" ") }
when "lives" then print_lives(*values)
when "threads" then print_threads(*values)
when "histories" then $stdin.each_line(chomp: true) { |line| puts outcome_of(line).join(" ") }
end
