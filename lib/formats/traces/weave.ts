/**
 * Calls of Weights & Biases Weave, as its interface and its exports return them. A call of a model has the request as its inputs, and the whole
 * reply as its output.
 */
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type { Format } from '../format.ts'
import { catchRefusals, joinedPath } from '../reading/record-error.ts'
import { isChatReply } from '../replies/chat-completion.ts'
import { runsOfTraces, type TracedCall } from './trace-calls.ts'

const NAME = 'weave'

/** The format of calls. Those of a trace are one run of an agent. */
export const weave: Format = {
  name: NAME,
  label: 'calls of Weave',
  keeps: 'Ids and logprobs of replies that have them; messages, calls, parameters and times of each call of a model.',
  joins: true,
  sniff: isCall,
  read: catchRefusals((value, source) => {
    const calls = [value].flat().filter(isCall)
    const traced = calls.flatMap((call, index) => tracedCall(call, `[${index}]`) ?? [])
    return runsOfTraces(traced, { format: NAME, idField: 'trace_id' }, source)
  }),
}

interface Call extends JsonObject {
  readonly trace_id: string
  readonly inputs: JsonObject
}

function isCall(value: unknown): value is Call {
  return (
    isObject(value) &&
    typeof value.op_name === 'string' &&
    typeof value.trace_id === 'string' &&
    typeof value.project_id === 'string' &&
    isObject(value.inputs)
  )
}

/** Returns the call of a model; undefined for another step, whose calls are steps of their own. */
function tracedCall({ trace_id, inputs, output, started_at, ended_at }: Call, path: string): TracedCall | undefined {
  if (!isChatReply(output)) return undefined
  const call = {
    path: joinedPath(path, 'output'),
    request: without(inputs, ['self']) ?? {},
    reply: output,
    message: undefined,
    model: typeof output.model === 'string' ? output.model : undefined,
    usage: {},
  }
  return { traceId: trace_id, startTime: started_at, endTime: ended_at, call }
}
