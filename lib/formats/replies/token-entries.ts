/**
 * Reads the entries of logprobs: one for each sampled token, with its text, sometimes its id, and its alternatives. The forms are
 * those of chat completions (`logprobs.content`), of llama.cpp, and of SGLang's tuples.
 */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { isTokenId } from '#lib/trajectory/format/token-id.ts'
import type { TopLogprobs, Vocab, VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import { vocabEntry } from '#lib/trajectory/tokens/pieces.ts'
import { logprobSchema } from '../columns.ts'
import { parsedAt } from '../reading/record-error.ts'

/** A token with its logprob; what the file does not have is undefined. */
export interface TokenEntry {
  readonly id: number | undefined
  readonly text: VocabEntry | undefined
  readonly logprob: number | null | string
  readonly alternatives: readonly TokenEntry[] | undefined
}

/** Reads a list of entries as objects `{token, logprob, bytes, top_logprobs}`. */
export function entriesOf(list: unknown, path: string): readonly TokenEntry[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined
  return list.map((entry: unknown, index) => entryOf(entry, `${path}[${index}]`))
}

function entryOf(value: unknown, path: string): TokenEntry {
  const entry = isObject(value) ? value : {}
  const id = [entry.token_id, entry.id].find(isTokenId) ?? idInText(entry.token)
  return {
    id,
    text: idInText(entry.token) === undefined ? textOfToken(entry) : undefined,
    logprob: parsedAt(logprobSchema, entry.logprob ?? null, `${path}.logprob`),
    alternatives: entriesOf(entry.top_logprobs, `${path}.top_logprobs`),
  }
}

/** Reads SGLang's tuples `[logprob, id, text]`. */
export function tupleEntries(list: unknown, tops: unknown, path: string): readonly TokenEntry[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined
  const alternatives: readonly unknown[] = Array.isArray(tops) && tops.length === list.length ? tops : []
  return list.map((tuple: unknown, index) => ({
    ...tupleEntry(tuple, `${path}[${index}]`),
    alternatives: tupleEntries(alternatives[index], undefined, `${path}[${index}]`),
  }))
}

function tupleEntry(value: unknown, path: string): TokenEntry {
  const [logprob, id, text]: readonly unknown[] = Array.isArray(value) ? value : []
  return {
    id: isTokenId(id) ? id : undefined,
    text: wholeText(text),
    logprob: parsedAt(logprobSchema, logprob ?? null, `${path}[0]`),
    alternatives: undefined,
  }
}

/** With return_tokens_as_token_ids, vLLM writes `token_id:42` in place of each text, and the bytes are those of this text. */
function idInText(token: unknown): number | undefined {
  const found = typeof token === 'string' ? /^token_id:(\d{1,15})$/.exec(token) : null
  const id = Number(found?.[1])
  return isTokenId(id) ? id : undefined
}

/** The bytes of llama.cpp are exact; other servers write those of the decoded text. */
function textOfToken({ token, bytes }: JsonObject): VocabEntry | undefined {
  if (!Array.isArray(bytes) || bytes.length === 0 || !bytes.every(isByte)) return wholeText(token)
  const entry = vocabEntry(Uint8Array.from(bytes))
  return typeof entry === 'string' ? wholeText(entry) : entry
}

const isByte = (byte: unknown): byte is number =>
  Number.isInteger(byte) && (byte as number) >= 0 && (byte as number) < 256

/** A server that decodes a token alone writes U+FFFD for a part of a character, and nothing for a token that it hides. */
const wholeText = (text: unknown): string | undefined =>
  typeof text === 'string' && text !== '' && !text.includes('\ufffd') ? text : undefined

/** Returns the texts that the entries give for ids; `ids` are those of the entries in order. */
export function vocabOf(ids: readonly number[], entries: readonly TokenEntry[]): Vocab {
  const vocab: Record<string, VocabEntry> = {}
  const add = (id: number | undefined, text: VocabEntry | undefined) => {
    if (id !== undefined && text !== undefined) vocab[id] ??= text
  }
  for (const [index, { text, alternatives = [] }] of entries.entries()) {
    add(ids[index], text)
    for (const alternative of alternatives) add(alternative.id, alternative.text)
  }
  return vocab
}

/** Returns the alternatives as columns; undefined if there are none, or the ids of any are unknown. */
export function topLogprobsOf(entries: readonly TokenEntry[]): TopLogprobs | undefined {
  const lists = entries.map(({ alternatives = [] }) => alternatives)
  const k = lists.reduce((most, { length }) => Math.max(most, length), 0)
  if (k === 0 || lists.some((list) => list.some(({ id }) => id === undefined))) return undefined
  const filled = lists.flatMap((list) => {
    const known = list.filter(({ logprob }) => Number.isFinite(Number(logprob ?? Number.NaN)))
    return Array.from({ length: k }, (_, rank) => known[rank])
  })
  return {
    k,
    ids: filled.map((entry) => entry?.id ?? -1),
    logprobs: filled.map((entry) => (entry ? Number(entry.logprob) + 0 : null)),
  }
}
