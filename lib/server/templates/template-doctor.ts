/** The doctor of chat templates over HTTP, with the same report as lib/templates. */
import { setImmediate } from 'node:timers/promises'
import * as z from 'zod'
import type { TrajectoryReader } from '#lib/store/record.ts'
import type { LabInput } from '#lib/tasks/task.ts'
import { withRecorded } from '#lib/templates/document/trajectory-input.ts'
import type { MaskReport } from '#lib/templates/loss-mask/report.ts'
import type { RepairedTemplate } from '#lib/templates/prefix-preservation/fix/repair.ts'
import {
  type CauseKind,
  COMPARES,
  DOCTOR_REPORT_VERSION,
  type DoctorReport,
} from '#lib/templates/prefix-preservation/report.ts'
import type { SearchProgress, SearchResult } from '#lib/templates/prefix-preservation/search.ts'
import { tasks } from '#lib/templates/tasks/tasks.ts'
import { HttpProblem } from '../http/problem.ts'
import { readStored } from '../library/read-stored.ts'
import type { LabParts } from './lab-answers.ts'
import { conversationShape, labShape, rejectedInput, type TokenizerWithTemplate } from './lab-request.ts'

const compares = z.enum(COMPARES).exactOptional().describe('text: compare characters instead of ids. Default tokens.')

/** Schema of the body of POST /api/templates/doctor. */
export const doctorRequestSchema = z.strictObject({
  ...labShape,
  messages: conversationShape.messages.exactOptional(),
  trajectory: z
    .string()
    .exactOptional()
    .describe('Key of a stored trajectory, whose boundaries are checked with the recorded ids.'),
  compares,
})
/** The body of POST /api/templates/doctor, after its check. */
export type DoctorRequest = z.infer<typeof doctorRequestSchema>

/** Schema of the answer of POST /api/templates/doctor. */
export const doctorAnswerSchema = z
  .looseObject({
    version: z.literal(DOCTOR_REPORT_VERSION),
    summary: z.object({
      renders: z.object({ stable: z.int(), unstable: z.int() }).describe('Cells with the same render count once.'),
      stable: z.int(),
      unstable: z.int(),
      merges: z.int().describe('Unstable cells with equal text, in which only tokens merge.'),
      notApplicable: z.int(),
      errors: z.int(),
    }),
    cells: z.array(z.looseObject({ id: z.string(), verdict: z.looseObject({ kind: z.string() }) })),
    trl: z
      .looseObject({ kind: z.enum(['preserving', 'rewritten', 'notAsked', 'failed']) })
      .optional()
      .describe('The result of is_chat_template_prefix_preserving of TRL. Omitted: the template was not checked.'),
    masks: z
      .looseObject({ version: z.int() })
      .optional()
      .describe(
        'The loss mask, computed four ways. Only with messages or a trajectory. lib/templates/loss-mask/report.ts has its fields.',
      ),
  })
  .describe('lib/templates/prefix-preservation/report.ts has all fields.')

/** The doctor's report; with a conversation or a trajectory, also the loss mask four ways. */
export type Diagnosis = DoctorReport & { readonly masks?: MaskReport }

/** Checks a template. Throws HttpProblem, TokenizerError, or the reason of the signal. */
export async function diagnose(
  { trajectory: key, compares }: LabParts<DoctorRequest>,
  texts: Omit<LabInput, 'template'>,
  chosen: TokenizerWithTemplate,
  reader: Pick<TrajectoryReader, 'read'>,
  signal: AbortSignal,
): Promise<Diagnosis> {
  const { template } = chosen
  const trajectory = key === undefined ? undefined : readStored(key, reader)
  const { messages, tools, options } = trajectory ? withRecorded(texts, trajectory) : texts
  const report = await finishTask(tasks.stability({ template, tools, options, trajectory, compares }, [chosen]), signal)
  if (messages === '' && !trajectory) return report
  const input = { template, messages, tools, options }
  const masks = await finishTask(tasks.masks({ input, trajectory }, [chosen]), signal)
  return { ...report, masks }
}

/** Schema of the body of POST /api/templates/fix. */
export const fixRequestSchema = z.strictObject({
  ...labShape,
  cell: z
    .string()
    .exactOptional()
    .describe('Id of the only cell of the doctor’s report to fix. Default: all unstable cells, one after the other.'),
})

/** The body of POST /api/templates/fix, after its check. */
export type FixRequest = z.infer<typeof fixRequestSchema>

const cellFix = z.looseObject({
  cell: z.string().describe('Id of the cell that the fix is for.'),
  why: z.string(),
  diff: z.string().describe('Hunks as `diff -u` writes them.'),
  cured: z.array(z.string()).describe('Ids of the cells that become stable.'),
  costs: z
    .array(z.looseObject({ text: z.string() }))
    .describe('How the fix changes replies without calls and thinking.'),
  search: z
    .object({ conversations: z.int(), brokenBefore: z.int(), brokenAfter: z.int() })
    .describe('Number of generated conversations, and how many of them are unstable without and with the fix.'),
})

/** Schema of the answer of POST /api/templates/fix. */
export const fixAnswerSchema = z
  .object({
    template: z.string().describe('The template with the applied fixes.'),
    diff: z.string(),
    applied: z.array(cellFix),
    unstable: z
      .array(z.string())
      .describe('Ids of the cells that are still unstable, or raise an error, with the fixed template.'),
    isComplete: z
      .boolean()
      .describe('False: the time limit was reached, and the answer contains the fixes found so far.'),
  })
  .describe('lib/templates/prefix-preservation/fix/repair.ts has all fields.')

/** Searches for fixes of unstable cells. Throws HttpProblem, TokenizerError, or the reason of the signal. */
export async function fixTemplate(
  { cell }: LabParts<FixRequest>,
  { tools, options }: Omit<LabInput, 'template'>,
  chosen: TokenizerWithTemplate,
  signal: AbortSignal,
): Promise<RepairedTemplate & { readonly isComplete: boolean }> {
  const repair = await tasks.stabilityRepair.load()
  const steps = repair({ input: { template: chosen.template, tools, options }, cell }, [chosen])
  let soFar: RepairedTemplate | undefined
  const result = await finishTask(steps, signal, {
    onProgress: (progress) => {
      soFar = progress.soFar
    },
    late: () => soFar && ({ kind: 'repaired', repair: soFar, isLate: true } as const),
  })
  if (result.kind === 'failed') throw rejectedInput(result.failure)
  return { ...result.repair, isComplete: !('isLate' in result) }
}

/** Schema of the body of POST /api/templates/search. */
export const searchRequestSchema = z.strictObject({
  ...labShape,
  seed: z.int().exactOptional().describe('The same seed creates the same conversations. Default 1.'),
  cases: z.int().min(1).max(5000).exactOptional().describe('Maximum number of conversations to try. Default 400.'),
  known: z
    .array(z.string())
    .exactOptional()
    .describe('Known kinds of causes (`finding.cause.kind`): conversations that break for one of them are skipped.'),
})

/** The body of POST /api/templates/search, after its check. */
export type SearchRequest = z.infer<typeof searchRequestSchema>

/** Schema of the answer of POST /api/templates/search. */
export const searchAnswerSchema = z
  .looseObject({
    kind: z.enum(['found', 'none']),
    seed: z.int(),
    tried: z
      .int()
      .describe(
        'Number of conversations that were tried: fewer than `cases` if one was found or the time limit was reached.',
      ),
    counterexample: z
      .looseObject({ messages: z.string(), replyIndex: z.int(), reproduction: z.string() })
      .optional()
      .describe('The smallest conversation that breaks, and a Python test that fails with it.'),
  })
  .describe('lib/templates/prefix-preservation/search.ts has all fields.')

const CASES = 400

/** Searches for a conversation that breaks. Throws HttpProblem, TokenizerError, or the reason of the signal. */
export async function searchTemplate(
  { seed = 1, cases = CASES, known = [] }: LabParts<SearchRequest>,
  { tools, options }: Omit<LabInput, 'template'>,
  chosen: TokenizerWithTemplate,
  signal: AbortSignal,
): Promise<Exclude<SearchResult, { readonly kind: 'failed' }>> {
  const search = await tasks.counterexample.load()
  const input = { template: chosen.template, tools, options }
  let last: SearchProgress | undefined
  const result = await finishTask(search({ input, seed, cases, known: known as CauseKind[] }, [chosen]), signal, {
    onProgress: (progress) => {
      last = progress
    },
    late: () => {
      const tried = last?.tried ?? 0
      return last?.smallest
        ? { kind: 'found' as const, seed, tried, counterexample: last.smallest }
        : { kind: 'none' as const, seed, tried }
    },
  })
  if (result.kind === 'failed') throw rejectedInput(result.failure)
  return result
}

const LONGEST_TASK_MS = 30_000

interface Watch<Progress, Late> {
  readonly onProgress: (progress: Progress) => void
  /** Returns the answer when time runs out; undefined results in an error. */
  readonly late: () => Late | undefined
}

/** Runs a task to its end. Throws HttpProblem if it takes too long, or the reason of the signal. */
async function finishTask<Progress, Result, Late = never>(
  steps: Generator<Progress, Result>,
  signal: AbortSignal,
  watch?: Watch<Progress, Late>,
): Promise<Result | Late> {
  const deadline = performance.now() + LONGEST_TASK_MS
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    watch?.onProgress(step.value)
    await setImmediate()
    signal.throwIfAborted()
    if (performance.now() <= deadline) continue
    const late = watch?.late()
    if (late !== undefined) return late
    throw new HttpProblem({
      status: 422,
      code: 'TOO_SLOW',
      detail: `it took longer than ${LONGEST_TASK_MS / 1000} s`,
      hint: 'The template renders slowly, or the trajectory is long: use the page of the template lab or `npx rollscope doctor`.',
    })
  }
}
