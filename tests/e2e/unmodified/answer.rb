# SPDX-License-Identifier: BSD-2-Clause
# answer.rb FOLDER ROUNDS: requires and loads files, and collects garbage; says how often, as name=count. It loads ready.rb until FOLDER/go is there,
# so that its tracer can say when it has arrived.
folder, rounds = ARGV[0], ARGV[1].to_i

File.write("#{folder}/ready.rb", "")
rounds.times do |i|
  File.write("#{folder}/inner#{i}.rb", "INNER#{i} = #{i}\n")
  File.write("#{folder}/outer#{i}.rb", "require '#{folder}/inner#{i}'\n")
end
File.write("#{folder}/again.rb", "$loads = ($loads || 0) + 1\n")
File.write("#{folder}/raises.rb", "raise 'as it should'\n")

until File.exist?("#{folder}/go")
  load "#{folder}/ready.rb"
  sleep 0.01
end

collections = GC.count
rounds.times { |i| require "#{folder}/outer#{i}" }
rounds.times { |i| require "#{folder}/outer#{i}" } # they are there already
(2 * rounds).times { load "#{folder}/again.rb" }
rounds.times { GC.start }
100_000.times { |i| [i.to_s, { i => "x" * 40 }] } # a few collections of Ruby's own
begin
  require "#{folder}/nowhere"
rescue LoadError
  missing = 1
end
begin
  require "#{folder}/raises"
rescue RuntimeError
  raised = 1
end
GC.disable
puts "requires=#{3 * rounds}", "inner=#{rounds}", "loads=#{$loads}", "collections=#{GC.count - collections}", "missing=#{missing}", "raised=#{raised}"
