/**
 * Finds the token ids of one choice of a reply. Servers and clients write the same ids in other places: vLLM beside the choices and
 * in them, SGLang in the choices, LiteLLM in `provider_specific_fields`.
 */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { contradiction, idsSchema } from '../columns.ts'
import { joinedPath, parsedAt, refuseIf } from '../reading/record-error.ts'

/** The ids of a prompt and of a reply; undefined if the file does not have them. */
export interface ReplyIds {
  readonly prompt: readonly number[] | undefined
  readonly reply: readonly number[] | undefined
}

/** Returns the ids of a choice. Refuses a record with wrong ids, and one whose copies of the ids differ. */
export function idsOfChoice(reply: JsonObject, choice: JsonObject, at: ReplyPath): ReplyIds {
  const provider = isObject(choice.provider_specific_fields) ? choice.provider_specific_fields : {}
  const inProvider = joinedPath(at.choice, 'provider_specific_fields')
  return {
    prompt: sameIds([
      [joinedPath(at.reply, 'prompt_token_ids'), reply.prompt_token_ids],
      [joinedPath(at.choice, 'prompt_token_ids'), choice.prompt_token_ids],
      [joinedPath(inProvider, 'prompt_token_ids'), provider.prompt_token_ids],
    ]),
    reply: sameIds([
      [joinedPath(at.choice, 'token_ids'), choice.token_ids],
      [joinedPath(at.choice, 'response_token_ids'), choice.response_token_ids],
      [joinedPath(inProvider, 'token_ids'), provider.token_ids],
      [joinedPath(inProvider, 'response_token_ids'), provider.response_token_ids],
    ]),
  }
}

/** Paths of a reply and of its choice in a record. */
export interface ReplyPath {
  readonly reply: string
  readonly choice: string
}

/** Returns the ids that a record has at one or more paths, or undefined if it has none. */
export function sameIds(copies: readonly (readonly [path: string, value: unknown])[]): readonly number[] | undefined {
  const found = copies.flatMap(([path, value]) =>
    value === undefined || value === null ? [] : [[path, idsAt(path, value)] as const],
  )
  refuseIf(contradiction(found))
  return found[0]?.[1]
}

/** Some clients write ids as texts of digits. */
function idsAt(path: string, value: unknown): readonly number[] {
  const numbers = Array.isArray(value) ? value.map((id) => (isDigits(id) ? Number(id) : id)) : value
  return parsedAt(idsSchema, numbers, path)
}

const isDigits = (id: unknown): id is string => typeof id === 'string' && /^\d{1,15}$/.test(id)
