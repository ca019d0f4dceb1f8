/**
 * Samples that lm-evaluation-harness logs, `samples_TASK_TIME.jsonl`: a document with its requests. A task of generation has a trajectory for
 * each generated text, and a task of choices has one for each choice, whose logprob is only known in sum.
 */
import { isObject, type JsonObject, objectOf, without } from '#lib/json/json-object.ts'
import {
  completionSegments,
  type conversationSegments,
  responseSegment,
  textTrajectory,
} from '../conversations/text-trajectory.ts'
import type { Format } from '../format.ts'
import { nextGroupMember } from '../group-members.ts'
import { catchRefusals, refuse } from '../reading/record-error.ts'

const NAME = 'lm-eval'

/** The format of the samples. */
export const lmEval: Format = {
  name: NAME,
  label: 'lm-evaluation-harness samples',
  keeps: 'Prompts, generated texts or choices, and the metric. Texts only.',
  sniff: (value) => isObject(value) && ['doc', 'arguments', 'resps', 'filtered_resps'].every((key) => key in value),
  read: catchRefusals((value, source) => {
    const record = value as JsonObject
    const { doc_id: id, filter } = record
    const answers = answersIn(record)
    const metrics = Array.isArray(record.metrics) ? record.metrics.map(String) : []
    const [metric = ''] = metrics
    const score = answers.length === 1 && metrics.length === 1 ? record[metric] : undefined
    const hasReward = typeof score === 'number'
    const rest = without(record, ['arguments', 'resps', ...(hasReward ? [metric] : [])])
    const group = filter === 'none' ? String(id) : `${id} ${filter}`
    return answers.map(({ segments, own }) =>
      textTrajectory(
        {
          format: NAME,
          segments,
          reward: hasReward ? score : undefined,
          ...(answers.length > 1 && { group: nextGroupMember(source, group) }),
          lacked: hasReward ? [] : ['reward: the metrics are several, or of the whole document'],
          rest: { ...rest, ...own },
        },
        source,
      ),
    )
  }),
}

interface Answer {
  readonly segments: ReturnType<typeof conversationSegments>
  /** The settings of the generation, or the logprob of the choice. */
  readonly own: JsonObject
}

function answersIn({ arguments: written, resps }: JsonObject): readonly Answer[] {
  const requests = Object.values(isObject(written) || Array.isArray(written) ? written : {})
  return requests.flatMap((request, index): readonly Answer[] => {
    const [prompt, more] = partsOf(request)
    const path = `arguments[${index}]`
    const results: unknown = Array.isArray(resps) ? resps[index] : undefined
    if (!Array.isArray(results)) return refuse(`resps[${index}]`, 'a list of the results of the request', results)
    if (typeof prompt !== 'string' && !Array.isArray(prompt)) return refuse(path, 'a request with its prompt', request)
    // A text without a second part is one that the model rates.
    if (more === undefined)
      return [{ segments: [responseSegment({ role: 'assistant', content: prompt })], own: { resps: results } }]
    if (typeof more === 'string') return [{ segments: segmentsOf(prompt, more, path), own: { resps: results } }]
    return results.map((text) => ({ segments: segmentsOf(prompt, text, path), own: { generation: more } }))
  })
}

/** Returns the prompt and the choice or the settings of a request, which earlier versions write as a list. */
const partsOf = (request: unknown): readonly unknown[] =>
  Array.isArray(request) ? request : isObject(request) ? [request.arg_0, request.arg_1] : []

/** A server of chats has messages, as JSON in a list. */
function segmentsOf(prompt: unknown, text: unknown, path: string): Answer['segments'] {
  const [json]: readonly unknown[] = Array.isArray(prompt) ? prompt : []
  const messages = typeof json === 'string' ? objectOf(`{"messages":${json}}`)?.messages : undefined
  return completionSegments(Array.isArray(messages) ? messages : prompt, text, { prompt: path, completion: 'resps' })
}
