/**
 * `rollscope drift`: finds samples that become other tokens in a pipeline that keeps text or messages, for people and
 * CI.
 */
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { kindsCsv, samplesCsv } from '#lib/analysis/corpus/csv.ts'
import { type ComparisonBasis, corpusReport } from '#lib/analysis/corpus/report.ts'
import type { CheckedSample, Sample } from '#lib/analysis/corpus/sample.ts'
import { NO_TOTALS, withSample } from '#lib/analysis/corpus/totals.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import { DRIFT_SEVERITIES } from '#lib/trajectory/drift/report.ts'
import { driftSamples, otherRecords, type RightSideSource, UNREADABLE } from './drift-samples.ts'
import { sampleText, summaryText } from './drift-text.ts'
import type { CommandEnvironment } from './environment.ts'
import { CommandError, EXIT, parseArguments } from './exit.ts'
import { readTemplate, tokenizerNamed, writeText } from './inputs.ts'

const MODES = ['text', 'structured', 'raw'] as const
const FAIL_ON = [...DRIFT_SEVERITIES, 'structural', 'any', 'never'] as const
type FailOn = (typeof FAIL_ON)[number]

const HELP = `rollscope drift FILE… [options]

  FILE   trajectories in any format that the page opens; a folder of them, a pattern, or - for standard input

  --mode MODE        the other side: structured (default: the messages, with calls parsed and serialised again, through the
                     chat template), raw (the same with replies as raw text), or text (the ids decoded and encoded again)
  --tokenizer NAME   folder or Hub name of a tokenizer. Default: the tokenizer that each sample names
  --template T       a file with a chat template, or a tokenizer (folder or Hub name) whose template is used
  --against FILE     compare with the samples of this file instead, matched by id, or by number if one side has no ids
  --fail-on S        fail on drift of this severity or worse: trained (default), context, or tail (any drift, same as any);
                     on structural drift (special tokens or roles, at any severity); or never
  --json             print the whole report as JSON
  --csv FILE         write a row for each sample to FILE, and a row for each kind of drift to a second file (a.csv: a.kinds.csv)

Exit status: 0 no drift that --fail-on names, 1 such drift, also if there were errors, 2 invalid command, 3 no such drift, but a
FILE could not be read, no sample could be checked, or --csv could not be written.
`

const OPTIONS = {
  mode: { type: 'string' },
  tokenizer: { type: 'string' },
  template: { type: 'string' },
  against: { type: 'string' },
  'fail-on': { type: 'string' },
  json: { type: 'boolean' },
  csv: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Runs `rollscope drift` and returns the exit status. Throws CommandError if nothing could be checked. */
export async function driftCommand(argumentList: readonly string[], around: CommandEnvironment): Promise<number> {
  const { values, positionals: files } = parseArguments(argumentList, OPTIONS, HELP)
  if (values.help) {
    around.print(HELP)
    return EXIT.well
  }
  if (files.length === 0) throw usage('drift requires a FILE')
  const failOn = oneOf('--fail-on', values['fail-on'] ?? 'trained', FAIL_ON)
  const reading = { folder: around.folder, input: around.input, tokenizer: tokenizers(around) }
  const { right, against } = await rightSide(values, around, reading)
  const csv = values.csv === undefined ? undefined : { samples: values.csv, kinds: kindsFile(values.csv) }
  // A file that cannot be written is reported before a long run, not after it.
  for (const file of Object.values(csv ?? {})) await writeText(around.folder, file, '', 'a')
  const samples: Sample[] = []
  let totals = NO_TOTALS
  for await (const sample of driftSamples(files, right, reading)) {
    if (!values.json) around.print(sampleText(sample))
    samples.push(sample)
    totals = withSample(totals, sample)
  }
  const report = corpusReport({ against, partial: false }, totals, samples)
  around.print(values.json ? `${JSON.stringify(report, null, 2)}\n` : summaryText(report))
  if (csv) {
    await writeText(around.folder, csv.samples, samplesCsv(report))
    await writeText(around.folder, csv.kinds, kindsCsv(report))
  }
  return statusOf(samples, failOn)
}

const kindsFile = (csv: string): string => csv.replace(/(\.csv)?$/, '.kinds.csv')

/** Returns the exit status: drift matters more than samples that could not be read. */
function statusOf(samples: readonly Sample[], failOn: FailOn): number {
  if (samples.some((sample) => sample.kind === 'checked' && fails(sample, failOn))) return EXIT.findings
  const isUnread = samples.some((sample) => sample.kind === 'unchecked' && sample.why === UNREADABLE)
  return isUnread || samples.every(({ kind }) => kind === 'unchecked') ? EXIT.unchecked : EXIT.well
}

function fails({ severity, kinds }: CheckedSample, failOn: FailOn): boolean {
  if (failOn === 'never' || severity === undefined) return false
  if (failOn === 'structural') return kinds.some(({ layers }) => layers.structural > 0)
  return failOn === 'any' || DRIFT_SEVERITIES.indexOf(severity) <= DRIFT_SEVERITIES.indexOf(failOn)
}

type Values = ReturnType<typeof parseArguments<typeof OPTIONS>>['values']

async function rightSide(
  values: Values,
  around: CommandEnvironment,
  reading: Parameters<typeof driftSamples>[2],
): Promise<{ readonly right: RightSideSource; readonly against: ComparisonBasis }> {
  const { against: file, mode: wanted, tokenizer: tokenizerName, template: named } = values
  if (file !== undefined) {
    if (wanted !== undefined || tokenizerName !== undefined || named !== undefined)
      throw usage('--against compares samples as recorded: --mode, --tokenizer and --template are not allowed with it')
    const records = await otherRecords(file, reading, (why) => new CommandError(EXIT.unchecked, why))
    return { right: { kind: 'file', name: file, records }, against: { mode: 'file', file } }
  }
  const kind = oneOf('--mode', wanted ?? 'structured', MODES)
  if (kind === 'text' && named !== undefined) throw usage('--mode text uses no --template')
  const isFolder =
    tokenizerName !== undefined &&
    (await stat(path.resolve(around.folder, tokenizerName)).catch(() => undefined))?.isDirectory()
  const tokenizer = isFolder ? path.resolve(around.folder, tokenizerName) : tokenizerName
  return {
    right: {
      kind: 'reconstruction',
      check: { as: { kind, ...(tokenizer !== undefined && { tokenizer }) }, otherwise: undefined },
      template: named === undefined ? undefined : await templateNamed(named, around),
    },
    against: {
      mode: kind,
      ...(tokenizerName !== undefined && { tokenizer: tokenizerName }),
      ...(named !== undefined && { template: named }),
    },
  }
}

async function templateNamed(
  given: string,
  around: CommandEnvironment,
): Promise<(hasTools: boolean) => string | undefined> {
  const found = await stat(path.resolve(around.folder, given)).catch(() => undefined)
  if (found?.isFile()) {
    const text = await readTemplate(around.folder, given)
    return () => text
  }
  const { loaded } = await tokenizerNamed(given, around)
  if (!loaded.template(false)) throw new CommandError(EXIT.unchecked, `${given} has no chat template`)
  return (hasTools) => loaded.template(hasTools)?.text
}

/** Returns a loader that tries each tokenizer once, even if it is not available. */
function tokenizers(around: CommandEnvironment): (name: string) => Promise<LoadedTokenizer> {
  const known = new Map<string, Promise<LoadedTokenizer>>()
  return (name) => {
    const found = known.get(name) ?? tokenizerNamed(name, around).then(({ loaded }) => loaded)
    known.set(name, found)
    return found
  }
}

function oneOf<Name extends string>(option: string, value: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === value)
  if (found === undefined) throw usage(`${option} takes one of ${names.join(', ')}, not ${JSON.stringify(value)}`)
  return found
}

const usage = (why: string): CommandError => new CommandError(EXIT.usage, `${why}\n\n${HELP}`)
