/** Finds the two sides that a request names, and compares them. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { compareSides } from '#lib/analysis/compare/compare-sides.ts'
import { packComparison } from '#lib/analysis/compare/sent-comparison.ts'
import type { LoadedSide } from '#lib/analysis/compare/shown-side.ts'
import { exampleName, type Reconstruction, readSide, type TemplateChoice } from '#lib/analysis/compare/side.ts'
import { DEFAULT_PARSER, parserNamed } from '#lib/parsers/registry.ts'
import { foreignId, withTokenizer } from '#lib/rollout/record/with-tokenizer.ts'
import type { TrajectoryReader } from '#lib/store/record.ts'
import type { TokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { type DecodeResult, decode, decodeValue } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { violationText } from '#lib/util/schema-violation.ts'
import { HttpProblem } from '../http/problem.ts'
import type { SideInput } from './compare.ts'
import type { CompareWorkerReply, SidesRequest } from './compare-worker-messages.ts'
import { loadSide } from './load-side.ts'
import { trajectoryOfIds } from './trajectory-of-ids.ts'

interface Deps {
  readonly reader: Pick<TrajectoryReader, 'read'>
  readonly examplesFolder: string
  readonly tokenizers: TokenizerLoader
}

type Name = 'left' | 'right'

/** Returns the comparison of both sides. Throws HttpProblem or TokenizerError. */
export async function runCompareRequest(
  { left, right, alignedRuns, stretches, wants }: SidesRequest,
  deps: Deps,
): Promise<CompareWorkerReply> {
  const sides = { left: await resolveSide(left, 'left', deps), right: await resolveSide(right, 'right', deps) }
  const comparing = compareSides(sides.left, sides.right)
  if (!comparing.ok)
    throw new HttpProblem({
      status: 422,
      code: 'NO_SIDE',
      detail: `the ${comparing.side} side cannot be created: ${comparing.why}`,
      hint: comparing.hint,
      field: comparing.side,
    })
  const { comparison } = comparing.value
  const caveats = { left: comparing.value.left.caveats, right: comparing.value.right.caveats }
  const text = JSON.stringify({
    report: comparison.report,
    caveats,
    doubts: caveats,
    ...(alignedRuns && { alignedRuns: comparison.alignedRuns }),
    ...(stretches && { stretches: comparison.alignedRuns }),
  })
  if (wants === 'answer') return { kind: 'answer', text }
  const originals = { left: sides.left.trajectory, right: sides.right.trajectory }
  return { kind: 'comparison', text, sent: packComparison(comparing, originals), originals: originals }
}

async function resolveSide(input: SideInput, name: Name, deps: Deps): Promise<LoadedSide> {
  const signal = new AbortController().signal
  if (typeof input === 'string') {
    const side = readSide(input)
    if (!side)
      throw new HttpProblem({
        status: 422,
        code: 'BAD_REQUEST',
        detail: `${name}: not the text of a side: ${input.slice(0, SHOWN_CHARACTERS)}`,
        hint: 'KEY, KEY~text, KEY~structured, KEY~raw or KEY~read, then ~tokenizer=NAME and ~template=…, in that order.',
        field: name,
      })
    const trajectory = await loadTrajectory(side.key, name, deps)
    const choice = 'template' in side.as ? side.as.template : undefined
    const template = choice && (await templateText(choice, trajectory, name, deps))
    return loadSide(trajectory, side.as, template, deps, signal)
  }
  if ('ids' in input) return idsSide(input, name, deps)
  const { trajectory, as = { kind: 'recorded' } } = input
  const found =
    typeof trajectory === 'string'
      ? await loadTrajectory(trajectory, name, deps)
      : checkTrajectory(decodeValue(trajectory), name)
  const { template, ...plain } = 'template' in as ? as : { ...as, template: undefined }
  return loadSide(found, plain as Reconstruction, template, deps, signal)
}

/** Returns a side of ids with their texts, so that differences are reported in bytes. */
async function idsSide(
  { ids, tokenizer: named }: Extract<SideInput, { ids: readonly number[] }>,
  name: Name,
  { tokenizers }: Deps,
): Promise<LoadedSide> {
  const { tokenizer } = await tokenizers.load(named)
  const parser = parserNamed(DEFAULT_PARSER)
  if (!parser) throw new Error('the usual parser is known')
  const bare = trajectoryOfIds(ids)
  const foreign = foreignId(bare, tokenizer)
  if (foreign)
    throw new HttpProblem({
      status: 422,
      code: 'FOREIGN_ID',
      detail: `${name}: the tokenizer ${named} has no id ${foreign.id} (token ${foreign.tokenIndex})`,
      hint: 'Name the tokenizer of these ids.',
      field: `${name}.ids`,
    })
  const trajectory = withTokenizer(bare, { tokenizer, endOfTurnId: undefined, parser })
  return { as: { kind: 'recorded' }, trajectory, tokenizer: undefined, template: undefined }
}

/** Returns a stored trajectory or an example. Throws HttpProblem. */
async function loadTrajectory(key: string, name: Name, { reader, examplesFolder }: Deps): Promise<Trajectory> {
  const example = exampleName(key)
  if (example !== undefined) {
    const file = path.join(examplesFolder, `${example}.json`)
    const text = /^[\w-]+$/.test(example) ? await readFile(file, 'utf8').catch(() => undefined) : undefined
    if (text === undefined) throw notThere(key, name)
    return checkTrajectory(decode(text), name)
  }
  const found = reader.read(key)?.found
  if (found === undefined) throw notThere(key, name)
  if (typeof found === 'string')
    throw new HttpProblem({
      status: 422,
      code: 'DAMAGED',
      detail: `${name}: the stored trajectory cannot be read: ${found}`,
      field: name,
    })
  return found
}

const SHOWN_CHARACTERS = 200

const notThere = (key: string, name: Name): HttpProblem =>
  new HttpProblem({
    status: 404,
    code: 'NO_TRAJECTORY',
    detail: `${name}: there is no such trajectory: ${key.slice(0, SHOWN_CHARACTERS)}`,
    hint: 'It may be on another machine, or in another ROLLSCOPE_DATA folder.',
    field: name,
  })

function checkTrajectory(decoded: DecodeResult, name: Name): Trajectory {
  if (decoded.ok) return decoded.trajectory
  throw new HttpProblem({
    status: 422,
    code: 'BAD_TRAJECTORY',
    detail: `${name}: ${violationText(decoded.error)}`,
    field: name,
  })
}

async function templateText(choice: TemplateChoice, { model }: Trajectory, name: Name, deps: Deps): Promise<string> {
  const text =
    choice.kind === 'tokenizer'
      ? (await deps.tokenizers.load(choice.name)).template(model.tools.length > 0)?.text
      : choice.kind === 'trajectory'
        ? (await loadTrajectory(choice.key, name, deps)).model.template?.text
        : undefined
  if (text !== undefined && text !== '') return text
  throw new HttpProblem({
    status: 422,
    code: 'NO_TEMPLATE',
    detail:
      choice.kind === 'lab'
        ? `${name}: the document of the template lab is only in the browser`
        : `${name}: the source that ~template names has no chat template`,
    hint: 'Send the side as {"trajectory": KEY, "as": {"kind": "structured", "template": "…"}}.',
    field: name,
  })
}
