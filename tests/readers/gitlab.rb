# frozen_string_literal: true

# Runs GitLab's own reader of JUnit. Substitutes replace the job and its reports.
require "active_support/all"
require "digest"
require "json"
require "nokogiri"
ActiveSupport::XmlMini.backend = "Nokogiri"

module Gitlab
  module Ci
    module Parsers
      ParserError = Class.new(StandardError)
    end
  end
end

folder, *names = ARGV
%w[xml_converter ci/reports/test_case ci/reports/test_suite ci/parsers/test/junit].each do |file|
  load File.join(folder, "gitlabhq/lib/gitlab", "#{file}.rb")
end

Job = Struct.new(:test_suite_name, :max_test_cases_per_report)
Reports = Struct.new(:suite) do
  def get_suite(_name) = suite
end
WORDS = { "success" => "passed" }.freeze

def hold(path, what, found, expected)
  found == expected or abort "gitlab: #{path}: #{what}: #{found.inspect}, not #{expected.inspect}"
end

names.product(%w[junit junit-strict]).each do |name, form|
  path = "#{name}.#{form}"
  expected = JSON.parse(File.read("#{path}.expected.json"))
  suite = Gitlab::Ci::Reports::TestSuite.new("review")
  Gitlab::Ci::Parsers::Test::Junit.new.parse!(File.read(path), Reports.new(suite), job: Job.new("review", 0))
  hold(path, "error", suite.suite_error, nil)
  hold(path, "status", suite.total_status, expected["passed"] ? "success" : "failed")
  found = []
  suite.each_test_case do |test|
    found << [test.suite_name, test.name, WORDS.fetch(test.status, test.status), test.file]
  end
  ours = expected["cases"].map do |test|
    file = test["suite"] unless form == "junit-strict" || test["suite"] == "sluicegate"
    [*test.values_at("suite", "name", "kind"), file]
  end
  hold(path, "cases", found.map(&:to_json).sort, ours.map(&:to_json).sort)
  expected["cases"].each do |test|
    next unless %w[failed error].include?(test["kind"])

    output = suite.public_send(test["kind"]).values.find { |of| [of.suite_name, of.name] == test.values_at("suite", "name") }
    test["texts"].each { |text| output.system_output.include?(text) or abort "gitlab: #{path}: no #{text.inspect}" }
  end
  puts "gitlab: #{path}: #{found.size} cases, #{suite.total_status}"
end
