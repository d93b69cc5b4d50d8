// Runs two actions that show JUnit on GitHub, action-junit-report and test-reporter, from their own main.ts, as a step
// would: inputs in, exit status and outputs out. Substitutes that record their input replace the code that calls GitHub,
// finds files or writes Markdown; the parsers, the counts, the annotations and the rule for the conclusion are the actions'
// own.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { strict as assert } from "node:assert";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";

const [folder, ...names] = process.argv.slice(2);

const KEEP = `const keep = (what) => require("node:fs").writeFileSync(process.env.KEPT, JSON.stringify(what));`;
const ACTIONS = {
  "action-junit-report": {
    theirs: /\/(testParser|utils)(\.js)?$/,
    standins: {
      "@actions/github": `exports.context = { payload: {}, ref: "refs/heads/main", sha: "0" };`,
      "./annotator": `${KEEP}
        exports.annotateTestResult = async (result) => keep(result.annotations);
        exports.attachSummary = async () => {};
        exports.buildSummaryTables = () => [[], []];`,
    },
    inputs: {
      fail_on_failure: true, require_tests: true, check_name: "report", follow_symlink: false, truncate_stack_traces: true,
    },
    path: "report_paths",
  },
  "test-reporter": {
    theirs: /\/(java-\w+(-\w+)*|test-parser|test-results|get-annotations|(path|node|parse|markdown)-utils)(\.js)?$/,
    standins: {
      "@actions/github": `${KEEP}
        const answer = { data: { id: 1, url: "", html_url: "" } };
        const update = async ({ conclusion, output }) => (keep({ conclusion, annotations: output.annotations }), answer);
        exports.context = { repo: {} };
        exports.getOctokit = () => ({ rest: { checks: { create: async () => answer, update } } });`,
      "./utils/github-utils": `exports.getCheckRunContext = () => ({ sha: "0", runId: 1 });`,
      "./report/get-report": `exports.getReport = () => "";`,
      "./input-providers/local-file-provider": `
        exports.LocalFileProvider = class {
          constructor(name, [file]) { Object.assign(this, { name, file }); }
          async listTrackedFiles() { return []; }
          async load() { return { [this.name]: [{ file: this.file, content: require("node:fs").readFileSync(this.file, "utf8") }] }; }
        };`,
    },
    inputs: {
      name: "report", reporter: "java-junit", "list-suites": "all", "list-tests": "all", "max-annotations": 50,
      "fail-on-error": true, "fail-on-empty": true,
    },
    path: "path",
  },
};

const bundle = async (action) => {
  const { theirs, standins } = ACTIONS[action];
  const plugin = {
    name: "stand-ins",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^(\.|@actions\/github)/ }, ({ path, importer }) => {
        if (!importer.startsWith(resolve(folder)) || theirs.test(path)) return;
        return { path: path.replace(/\.js$/, ""), namespace: "stand-in" };
      });
      onLoad({ filter: /.*/, namespace: "stand-in" }, ({ path }) => ({ contents: standins[path] ?? "", loader: "js" }));
    },
  };
  const outfile = `${action}.cjs`;
  const entryPoints = [`${folder}/${action}/src/main.ts`];
  const made = { bundle: true, platform: "node", format: "cjs", tsconfigRaw: "{}", logLevel: "error" };
  await build({ ...made, entryPoints, outfile, plugins: [plugin], nodePaths: [resolve("node_modules")] });
  return resolve(outfile);
};

// The file in which a step's outputs stand: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
const outputs = (text) =>
  Object.fromEntries([...text.matchAll(/^(\S+)<<(\S+)\n([^]*?)\n\2$/gm)].map(([, name, , value]) => [name, value]));

const step = (action, program, report) => {
  const [kept, said] = [resolve(`${action}.kept.json`), resolve(`${action}.output`)];
  for (const file of [kept, said]) rmSync(file, { force: true });
  const { inputs, path } = ACTIONS[action];
  const given = Object.entries({ ...inputs, token: "none", [path]: resolve(report) });
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, KEPT: kept, GITHUB_OUTPUT: said };
  for (const [name, value] of given) env[`INPUT_${name.toUpperCase()}`] = String(value);
  spawnSync("touch", [said]);
  const done = spawnSync(process.execPath, [program], { cwd: "repository", env, encoding: "utf8" });
  assert(existsSync(kept), `${action} of ${report} ended early:\n${done.stdout.slice(-2000)}${done.stderr}`);
  return { status: done.status, told: JSON.parse(readFileSync(kept)), ...outputs(readFileSync(said, "utf8")) };
};

const count = (cases, ...kinds) => cases.filter(({ kind }) => kinds.includes(kind)).length;
const red = (cases) => cases.filter(({ kind }) => kind === "failed" || kind === "error");
// One of the actions removes emoji, and both trim spaces.
const told = (text) => text.replace(/\p{Extended_Pictographic}/gu, "").trim();
const sorted = (rows) => rows.map((row) => JSON.stringify(row)).sort();

const sameAnnotations = (annotations, cases) => {
  const level = { passed: "success", skipped: "skipped", failed: "failure", error: "failure" };
  const ours = cases.map(({ suite, name, kind, line }) => [suite, line, level[kind], told(`${suite}.${name}`)]);
  const theirs = annotations.map(({ path, start_line, status, title }) => [path, start_line, status, told(title)]);
  assert.deepEqual(sorted(theirs), sorted(ours));
};

const sameWords = (annotations, cases, title) => {
  for (const found of red(cases)) {
    const [annotation] = annotations.filter((one) => told(one.title) === told(title(found)));
    assert(annotation, title(found));
    for (const text of found.texts) assert(told(annotation.raw_details).includes(told(text)), `${text} in ${annotation.raw_details}`);
  }
};

for (const action of Object.keys(ACTIONS)) {
  const program = await bundle(action);
  for (const report of names.flatMap((name) => [`${name}.junit`, `${name}.junit-strict`])) {
    const { passed, cases } = JSON.parse(readFileSync(`${report}.expected.json`));
    const ended = step(action, program, report);
    assert.equal(ended.status, passed ? 0 : 1, `${action} of ${report} agrees with the verdict`);
    const numbers = [ended.passed, ended.failed, ended.skipped].map(Number);
    assert.deepEqual(numbers, [count(cases, "passed"), count(cases, "failed", "error"), count(cases, "skipped")], report);
    if (action === "test-reporter") {
      assert.equal(ended.conclusion, passed ? "success" : "failure");
      assert.equal(ended.told.conclusion, ended.conclusion);
      // The action finds places only in Java stack traces, shows 51 annotations, and truncates titles.
      const shown = red(cases).slice(0, 51);
      assert.equal(ended.told.annotations.length, shown.length);
      const group = (suite) => suite.replace(/\.(orch|tran)\.yaml$/, "").replaceAll(".", "_").replaceAll("/", ".");
      const title = ({ suite, name }) => `${suite.trim()} ► ${group(suite).trim()} ► ${name.trim()}`;
      sameWords(ended.told.annotations, shown.filter((one) => title(one).length < 256), title);
    } else if (report.endsWith(".junit")) {
      sameAnnotations(ended.told, cases);
      sameWords(ended.told, cases, ({ suite, name }) => `${suite}.${name}`);
    }
    console.log(`${action}: ${report}: ${cases.length} cases, ${passed ? "success" : "failure"}`);
  }
}
