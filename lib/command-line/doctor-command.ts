/** `rollscope doctor`: checks the prefix stability of a template, for people and for CI. */
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { type LabInput, runToEnd } from '#lib/tasks/task.ts'
import { withRecorded } from '#lib/templates/document/trajectory-input.ts'
import { maskDoctor } from '#lib/templates/loss-mask/doctor.ts'
import { doctor } from '#lib/templates/prefix-preservation/doctor.ts'
import { tasks } from '#lib/templates/tasks/tasks.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import { decode } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { violationText } from '#lib/util/schema-violation.ts'
import { repairText, reportText } from './doctor-text.ts'
import type { CommandEnvironment } from './environment.ts'
import { CommandError, EXIT, parseArguments } from './exit.ts'
import { readTemplate, readTextFile, tokenizerNamed, writeText } from './inputs.ts'

const HELP = `rollscope doctor TEMPLATE|MODEL [options]

  TEMPLATE   a file: Jinja, or a tokenizer_config.json or chat_template.json with a chat template
  MODEL      a folder with tokenizer.json, or a name on the Hugging Face Hub: its template and tokenizer are used

  --tokenizer NAME     folder or Hub name of the tokenizer for a TEMPLATE (default: the built-in model's)
  --option KEY=VALUE   a template variable; the value is JSON or a text (repeatable)
  --tools FILE         JSON list of tools {"type": "function", "function": {…}}
  --trajectory FILE    a Rollscope trajectory, whose boundaries are checked with the recorded ids
  --messages FILE      JSON list of messages: the loss mask is computed four ways, and the ways are compared
  --text               compare characters instead of ids, which shows what the template itself breaks
  --json               print the whole report as JSON
  --fix                write the fixed template to standard output, and a description of the fixes to standard error
  --out FILE           with --fix: write the fixed template to FILE, and a description of the fixes to standard output

With --trajectory, its tools, messages and options are the defaults of the check.

Exit status: 0 no findings, 1 unstable cells, template errors or wrong masks, 2 invalid command, 3 the check failed.
With --fix: 0 no cell of the written template is unstable, 1 some cells are still unstable, 2 invalid command, 3 nothing was written.
`

const OPTIONS = {
  tokenizer: { type: 'string' },
  option: { type: 'string', multiple: true },
  tools: { type: 'string' },
  trajectory: { type: 'string' },
  messages: { type: 'string' },
  text: { type: 'boolean' },
  json: { type: 'boolean' },
  fix: { type: 'boolean' },
  out: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Runs `rollscope doctor` and returns the exit status. Throws CommandError if the check was not possible. */
export async function doctorCommand(argumentList: readonly string[], around: CommandEnvironment): Promise<number> {
  const { values, positionals } = parseArguments(argumentList, OPTIONS, HELP)
  if (values.help) {
    around.print(HELP)
    return EXIT.well
  }
  if (!values.fix && values.out !== undefined) throw new CommandError(EXIT.usage, `--out requires --fix\n\n${HELP}`)
  const [subject, ...others] = positionals
  if (subject === undefined || others.length > 0)
    throw new CommandError(EXIT.usage, `doctor takes one TEMPLATE or MODEL, not ${positionals.length}\n\n${HELP}`)
  const { name, loaded, template } = await loadSubject(subject, values.tokenizer, values.tools !== undefined, around)
  const read = (file: string | undefined) => (file === undefined ? '' : readTextFile(around.folder, file))
  const doctorInput = {
    template,
    tools: await read(values.tools),
    messages: await read(values.messages),
    options: `{${(values.option ?? []).map(memberOf).join(', ')}}`,
  }
  const trajectory = values.trajectory === undefined ? undefined : await trajectoryIn(around.folder, values.trajectory)
  const texts = trajectory ? withRecorded(doctorInput, trajectory) : doctorInput
  if (values.fix) return await runFix(subject, texts, loaded, values, around)
  const compares = values.text ? 'text' : 'tokens'
  const stability = doctor({ ...texts, trajectory, compares }, loaded)
  const masks = texts.messages === '' && !trajectory ? undefined : maskDoctor({ input: texts, trajectory }, loaded)
  const report = { ...stability, ...(masks && { masks }) }
  around.print(values.json ? `${JSON.stringify(report, null, 2)}\n` : reportText(subject, name, report))
  if (report.failure || masks?.failure) return EXIT.unchecked
  const hasFindings =
    report.summary.unstable + report.summary.errors > 0 ||
    (masks?.lints ?? []).some(({ severity }) => severity === 'error')
  return hasFindings ? EXIT.findings : EXIT.well
}

interface FixValues {
  readonly text?: boolean | undefined
  readonly out?: string | undefined
  readonly json?: boolean | undefined
}

async function runFix(
  subject: string,
  texts: LabInput,
  loaded: LoadedTokenizer,
  { out, json, text = false }: FixValues,
  { folder, print, complain }: CommandEnvironment,
): Promise<number> {
  const repair = await tasks.stabilityRepair.load()
  const { template, tools, options } = texts
  const compares = text ? 'text' : 'tokens'
  const result = runToEnd(repair({ input: { template, tools, options, compares } }, [loaded]))
  if (result.kind === 'failed') {
    const { where, line, className, message } = result.failure
    const place = line === undefined ? '' : `, line ${line}`
    throw new CommandError(EXIT.unchecked, `${subject}: ${where}${place}: ${className}: ${message}`)
  }
  if (out !== undefined) await writeText(folder, out, result.repair.template)
  const repairReport = json ? `${JSON.stringify(result.repair, null, 2)}\n` : repairText(subject, result.repair)
  if (out !== undefined || json) print(repairReport)
  else {
    print(result.repair.template)
    complain(repairReport)
  }
  return result.repair.unstable.length > 0 ? EXIT.findings : EXIT.well
}

interface LoadedSubject {
  /** Name on the Hub, or the absolute path of a folder. */
  readonly name: string
  readonly loaded: LoadedTokenizer
  readonly template: string
}

async function loadSubject(
  subject: string,
  tokenizer: string | undefined,
  hasTools: boolean,
  { folder, places, builtIn }: CommandEnvironment,
): Promise<LoadedSubject> {
  const named = path.resolve(folder, subject)
  const found = await stat(named).catch(() => undefined)
  if (!found && /^[./~]|\.(jinja2?|j2|json|txt)$/.test(subject))
    throw new CommandError(EXIT.unchecked, `there is no file or folder named ${named}`)
  const model = found?.isFile() ? (tokenizer ?? builtIn) : subject
  const { name, loaded } = await tokenizerNamed(model, { folder, places })
  const template = found?.isFile() ? await readTemplate(folder, subject) : loaded.template(hasTools)?.text
  if (template === undefined)
    throw new CommandError(
      EXIT.unchecked,
      `${subject} has no chat template: name a TEMPLATE file, and pass the model as --tokenizer`,
    )
  return { name, loaded, template }
}

/** Returns a member of the options' JSON with the value's own text, so that 1.0 stays 1.0. */
function memberOf(text: string): string {
  const at = text.indexOf('=')
  if (at < 1) throw new CommandError(EXIT.usage, `--option takes KEY=VALUE, not ${JSON.stringify(text)}`)
  const value = text.slice(at + 1)
  return `${JSON.stringify(text.slice(0, at))}: ${isJson(value) ? value : JSON.stringify(value)}`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

async function trajectoryIn(folder: string, file: string): Promise<Trajectory> {
  const decoded = decode(await readTextFile(folder, file))
  if (decoded.ok) return decoded.trajectory
  throw new CommandError(EXIT.unchecked, `${file} is not a trajectory: ${violationText(decoded.error)}`)
}
