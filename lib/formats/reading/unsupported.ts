/** Recognises formats of other tools that cannot be opened, so that a file is refused by the format's name. */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { describeValue } from '#lib/util/schema-violation.ts'

interface UnsupportedFormat {
  /** Name with its article, for a sentence. */
  readonly name: string
  /** Returns whether a JSON value looks like a file or record of this format. */
  readonly sniff: (value: JsonObject) => boolean
}

/** Returns a check that all of these keys are present. */
const has =
  (...keys: readonly string[]) =>
  (value: JsonObject): boolean =>
    keys.every((key) => key in value)

/** The first match wins. A format of the registry is tried before. */
const FORMATS: readonly UnsupportedFormat[] = [
  {
    name: 'the task of an Agent Lightning rollout, whose tokens are in the events of its attempts',
    sniff: has('rollout', 'attempts'),
  },
  {
    name: 'a checkpoint of LangGraph, whose state opens when it is written with `dumps` of langchain_core.load',
    sniff: has('checkpoint_ns', 'checkpoint_id'),
  },
  {
    name: 'a log tree of tinker-cookbook, whose rollouts are in its capture',
    sniff: ({ root, started_at: start }) => isObject(root) && 'tag' in root && start !== undefined,
  },
  {
    name: 'the summary of a rollout of tinker-cookbook, whose ids are in its capture',
    sniff: has('traj_idx', 'steps', 'final_ob_len'),
  },
  {
    name: 'the result of a trial of Harbor without rollout details, whose messages are in the trajectory of its agent',
    sniff: has('task_name', 'trial_name', 'agent_info', 'verifier_result'),
  },
  { name: 'the settings of a llama.cpp server', sniff: has('default_generation_settings') },
  { name: 'a reply of a chat or completions endpoint', sniff: ({ choices }) => Array.isArray(choices) },
  { name: 'a tokenizer', sniff: has('added_tokens', 'pre_tokenizer') },
  { name: 'the settings of a tokenizer', sniff: has('tokenizer_class') },
  { name: 'a chat whose messages cannot be read', sniff: ({ messages }) => Array.isArray(messages) },
]

/** Returns the name of the format with its article, or undefined if none is recognised. The message of an error belongs to its name. */
export function unsupportedFormat(value: unknown): string | undefined {
  if (!isObject(value)) return undefined
  const message = messageOfError(value)
  return message === undefined
    ? FORMATS.find(({ sniff }) => sniff(value))?.name
    : `an error of a server, ${describeValue(message)}`
}

/** Returns the message of the body that servers have in place of a reply, or of the last event of a stream. */
function messageOfError({ object, message, error, choices }: JsonObject): string | undefined {
  const found = isObject(error) ? error.message : object === 'error' ? message : error
  return typeof found === 'string' && choices === undefined ? found : undefined
}
