/** The doctor of chat templates over HTTP: the very report of lib/lab. */
import { setImmediate } from 'node:timers/promises'
import * as z from 'zod'
import type { MaskReport } from '#lib/lab/masks/report.ts'
import { type DoctorReport, REPORT_VERSION } from '#lib/lab/stability/report.ts'
import type { LabInput } from '#lib/lab/task.ts'
import { tasks } from '#lib/lab/tasks.ts'
import { type Chosen, conversationShape, labShape } from './lab-request.ts'
import { Problem } from './problem.ts'
import type { Services } from './services.ts'
import { storedTrajectory } from './trajectories.ts'

export const doctorRequestSchema = z.strictObject({
  ...labShape,
  messages: conversationShape.messages.exactOptional(),
  trajectory: z
    .string()
    .exactOptional()
    .describe('Key of a stored trajectory: its boundaries are checked with the ids that the model wrote.'),
})
type DoctorRequest = z.infer<typeof doctorRequestSchema>

export const doctorAnswerSchema = z
  .looseObject({
    version: z.literal(REPORT_VERSION),
    summary: z.object({
      stable: z.int(),
      unstable: z.int(),
      notApplicable: z.int(),
      errors: z.int(),
    }),
    cells: z.array(z.looseObject({ id: z.string(), verdict: z.looseObject({ kind: z.string() }) })),
    masks: z
      .looseObject({ version: z.int() })
      .optional()
      .describe('The loss mask four ways: with messages or a trajectory. lib/lab/masks/report.ts has its fields.'),
  })
  .describe('lib/lab/stability/report.ts has all fields.')

/** The doctor's report; with a conversation or a trajectory also the loss mask four ways. */
export type Diagnosis = DoctorReport & { readonly masks?: MaskReport }

/** Throws Problem, TokenizerError, or the reason of the signal. */
export async function diagnose(
  { trajectory: key }: DoctorRequest,
  texts: Omit<LabInput, 'template'>,
  chosen: Chosen,
  all: Services,
  signal: AbortSignal,
): Promise<Diagnosis> {
  const { template } = chosen
  const { tools, options } = texts
  const trajectory = key === undefined ? undefined : storedTrajectory(key, all)
  const report = await finished(tasks.stability({ template, tools, options, trajectory }, [chosen]), signal)
  if (texts.messages === '' && !trajectory) return report
  const masks = await finished(tasks.masks({ input: { template, ...texts }, trajectory }, [chosen]), signal)
  return { ...report, masks }
}

const LONGEST_TASK_MS = 30_000

/** A task to its end; others are served between its steps. */
async function finished<Result>(steps: Generator<unknown, Result>, signal: AbortSignal): Promise<Result> {
  const deadline = performance.now() + LONGEST_TASK_MS
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await setImmediate()
    signal.throwIfAborted()
    if (performance.now() > deadline)
      throw new Problem({
        status: 422,
        code: 'TOO_SLOW',
        detail: `it took longer than ${LONGEST_TASK_MS / 1000} s`,
        hint: 'The template renders slowly, or the trajectory is long: use the template lab’s page or `npx rollscope doctor`.',
      })
  }
}
