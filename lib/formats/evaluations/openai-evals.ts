/**
 * Logs of OpenAI’s evals (`oaieval`): the settings of a run, events of its samples, and the final report. The sampling events of a sample are the
 * calls of its model, with the prompt and the sampled texts.
 */
import * as z from 'zod/mini'
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import type { Outcome } from '#lib/trajectory/format/trajectory.ts'
import { isoText } from '../foreign-trajectory.ts'
import type { Format } from '../format.ts'
import { catchRefusals, parsedAt } from '../reading/record-error.ts'
import { trajectoriesOfCalls } from '../replies/call-chains.ts'
import { chatCalls } from '../replies/chat-reply.ts'
import { type ModelCall, timedCall } from '../replies/model-call.ts'

const NAME = 'openai-evals'

/** The format of the logs. The samples of all its records are those of one run. */
export const openaiEvals: Format = {
  name: NAME,
  label: 'logs of OpenAI’s evals',
  keeps: 'Prompts and sampled texts of each sample, the model, and whether the answer matched. Texts only.',
  joins: true,
  sniff: (value) => isObject(value) && (isEvent(value) || isSpec(value.spec) || isReport(value)),
  read: catchRefusals((value, source) => {
    const records = [value].flat()
    const spec = records.flatMap((record) => (isObject(record) && isSpec(record.spec) ? [record.spec] : []))[0]
    const events = records.flatMap((record, index) =>
      isObject(record) && isEvent(record) ? [parsedAt(eventSchema, record, `[${index}]`)] : [],
    )
    const samples = Map.groupBy(events, ({ sample_id: id }) => id)
    return Array.from(samples, ([title, own]) => {
      const dataOf = (type: string) => own.filter((event) => event.type === type).map(({ data }) => data)
      const others = own.filter(({ type }) => type !== 'sampling')
      const [match, ...more] = dataOf('match')
      const isJudged = typeof match?.correct === 'boolean' && more.length === 0
      const run = {
        format: NAME,
        reward: isJudged ? Number(match.correct) : undefined,
        outcome: failureOf(dataOf('error')[0]),
        lacked: isJudged ? [] : ['reward'],
        rest: { ...(spec && { spec }), events: others.map(({ type, data }) => ({ type, data })) },
      }
      const calls = own.flatMap((event) => (event.type === 'sampling' ? callsOf(event, spec) : []))
      return trajectoriesOfCalls(calls, run, source).map((trajectory) => ({ ...trajectory, title }))
    }).flat()
  }),
}

const isEvent = (value: JsonObject): boolean =>
  ['run_id', 'event_id', 'sample_id', 'type', 'data'].every((key) => key in value)
const isSpec = (value: unknown): value is JsonObject =>
  isObject(value) && ['completion_fns', 'eval_name', 'run_id'].every((key) => key in value)
const isReport = (value: JsonObject): boolean => 'final_report' in value && 'run_id' in value

const eventSchema = z.looseObject({
  sample_id: z.string(),
  type: z.string(),
  data: z.looseObject({}),
  created_at: z.nullish(z.string()),
})

/** Returns a call for each sampled text. */
function callsOf(
  { data, created_at }: z.infer<typeof eventSchema>,
  spec: JsonObject | undefined,
): readonly ModelCall[] {
  const { prompt, sampled, model, usage } = data
  const [configured]: readonly unknown[] = Array.isArray(spec?.completion_fns) ? spec.completion_fns : []
  const named = model ?? configured
  const messages = typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : prompt
  return [sampled].flat().flatMap((sampledText) => {
    const content = typeof sampledText === 'string' ? sampledText : JSON.stringify(sampledText)
    const reply = { model: named, usage, choices: [{ message: { role: 'assistant', content } }] }
    return chatCalls(reply, { messages }, '').map((call) => timedCall(call, isoText(created_at), undefined))
  })
}

const failureOf = (error: JsonObject | undefined): Outcome | undefined =>
  error && { kind: 'failed', code: String(error.type), message: String(error.message) }
