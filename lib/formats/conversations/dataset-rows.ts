/**
 * Rows of data sets with a prompt, as TRL, OpenRLHF and verl read them: with its completion, with a chosen and a rejected one, with the
 * steps of one, or alone. Each is a text or a list of messages.
 */
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type { Segment } from '#lib/trajectory/format/trajectory.ts'
import type { Format } from '../format.ts'
import { nextGroupMember } from '../group-members.ts'
import { readTools } from '../messages.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { hasIds, isMessageList } from './chat-messages.ts'
import {
  completionSegments,
  conversationSegments,
  outcomeOfMessages,
  responseSegment,
  textTrajectory,
} from './text-trajectory.ts'

const NAME = 'dataset-rows'

/** The format of the rows. */
export const datasetRows: Format = {
  name: NAME,
  label: 'data set of prompts and completions',
  keeps: 'Prompt, completion or both answers of a preference, tools and reward. Texts only.',
  sniff: (value) => isObject(value) && samplesIn(value).length > 0 && !hasIds(value),
  read: catchRefusals((value, source) => {
    const record = isObject(value) ? value : {}
    return samplesIn(record).map(({ field, rewardField }) => {
      const segments = segmentsOf(record, field)
      const reward = record[rewardField]
      const isPair = PAIR.includes(field)
      const group = isPair || typeof reward === 'number' ? JSON.stringify(record.prompt ?? record.chosen) : undefined
      const trajectory = textTrajectory(
        {
          format: NAME,
          segments,
          outcome: outcomeOfMessages(segments),
          reward,
          ...(group !== undefined && { group: nextGroupMember(source, group) }),
          tools: readTools(record.tools),
          ...(field === STEPS && { lacked: ['labels of the steps: they are kept unread, with the steps'] }),
          rest: without(record, [
            'prompt',
            'tools',
            ...(isPair ? PAIR : [field].filter((one) => one !== STEPS)),
            ...(typeof reward === 'number' ? [rewardField] : []),
          ]),
        },
        source,
      )
      return isPair ? { ...trajectory, title: field } : trajectory
    })
  }),
}

const PAIR: readonly string[] = ['chosen', 'rejected']
const COMPLETIONS = ['completion', 'response']
/** The steps of a completion, of stepwise supervision. */
const STEPS = 'completions'

/** A sample of a row. */
interface RowSample {
  /** The field of its completion. A prompt alone has none. */
  readonly field: string
  readonly rewardField: string
}

/** Returns the samples of a row: two of a preference, otherwise one. None if the row is another record. */
function samplesIn(record: JsonObject): readonly RowSample[] {
  const isGiven = (field: string): boolean => typeof record[field] === 'string' || isMessageList(record[field])
  if (PAIR.every(isGiven)) return PAIR.map((field) => ({ field, rewardField: `score_${field}` }))
  // A conversation contains both.
  if ('messages' in record) return []
  if (typeof record.prompt === 'string' && hasLabelledSteps(record)) return [{ field: STEPS, rewardField: 'reward' }]
  const field = COMPLETIONS.find(isGiven)
  const isRow = field === undefined ? isMessageList(record.prompt) : isGiven('prompt')
  return isRow ? [{ field: field ?? '', rewardField: 'reward' in record ? 'reward' : 'score' }] : []
}

const hasLabelledSteps = ({ completions, labels }: JsonObject): boolean =>
  Array.isArray(completions) && completions.every((step) => typeof step === 'string') && Array.isArray(labels)

/** A list that does not begin with the model is the whole conversation, and may repeat the prompt. */
function segmentsOf(record: JsonObject, field: string): readonly Segment[] {
  const { prompt, [field]: completion } = record
  // TRL separates steps by line breaks, unless its settings say otherwise.
  if (field === STEPS && Array.isArray(completion)) return segmentsOf({ prompt, [field]: completion.join('\n') }, field)
  if (completion === undefined) return completionSegments(prompt, [], { prompt: 'prompt', completion: field })
  const isWhole = Array.isArray(completion) && isObject(completion[0]) && completion[0].role !== 'assistant'
  if (Array.isArray(completion) && (isWhole || prompt === undefined)) return conversationSegments(completion, field)
  return prompt === undefined
    ? [responseSegment({ role: 'assistant', content: completion })]
    : completionSegments(prompt, completion, { prompt: 'prompt', completion: field })
}
