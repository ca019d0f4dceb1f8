/**
 * Reads the entries of logprobs: one for each sampled token, with its text, sometimes its id, and its alternatives. The forms are
 * those of chat completions (`logprobs.content`), of llama.cpp, and of SGLang's tuples.
 */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { isTokenId } from '#lib/trajectory/format/token-id.ts'
import type { TopLogprobs, Vocab, VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import { vocabEntry } from '#lib/trajectory/tokens/pieces.ts'
import { isLogprob, type LogprobAsWritten, logprobSchema } from '../columns.ts'
import { parsedAt } from '../reading/record-error.ts'

/** A token with its logprob; what the file does not have is undefined. */
export interface TokenEntry {
  readonly id: number | undefined
  /** The entry with the token's text, or the text itself. It is read once for each id, because a file repeats it at every place. */
  readonly written: unknown
  readonly logprob: LogprobAsWritten
  readonly alternatives: readonly TokenEntry[] | undefined
}

/** Reads a list of entries as objects `{token, logprob, bytes, top_logprobs}`. */
export function entriesOf(list: unknown, path: string): readonly TokenEntry[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined
  return list.map((value: unknown, index) => {
    const entry = isObject(value) ? value : {}
    const { token, token_id, id, logprob, top_logprobs } = entry
    return {
      id: isTokenId(token_id) ? token_id : isTokenId(id) ? id : idInText(token),
      written: entry,
      logprob: isLogprob(logprob) ? logprob : logprobAt(logprob, `${path}[${index}].logprob`),
      alternatives: Array.isArray(top_logprobs) ? entriesOf(top_logprobs, `${path}[${index}].top_logprobs`) : undefined,
    }
  })
}

/** Reads SGLang's tuples `[logprob, id, text]`. */
export function tupleEntries(list: unknown, tops: unknown, path: string): readonly TokenEntry[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined
  const alternatives: readonly unknown[] = Array.isArray(tops) && tops.length === list.length ? tops : []
  return list.map((tuple: unknown, index) => {
    const [logprob, id, text]: readonly unknown[] = Array.isArray(tuple) ? tuple : []
    const others = alternatives[index]
    return {
      id: isTokenId(id) ? id : undefined,
      written: text,
      logprob: isLogprob(logprob) ? logprob : logprobAt(logprob, `${path}[${index}][0]`),
      alternatives: Array.isArray(others) ? tupleEntries(others, undefined, `${path}[${index}]`) : undefined,
    }
  })
}

/** Returns a logprob; null if the file has none. Refuses another value at its path. */
export const logprobAt = (value: unknown, path: string): LogprobAsWritten =>
  parsedAt(logprobSchema, value ?? null, path)

/** With return_tokens_as_token_ids, vLLM writes `token_id:42` in place of each text, and the bytes are those of this text. */
function idInText(token: unknown): number | undefined {
  if (typeof token !== 'string' || !token.startsWith('token_id:')) return undefined
  const id = Number(/^token_id:(\d{1,15})$/.exec(token)?.[1])
  return isTokenId(id) ? id : undefined
}

/** Returns the text of a token; undefined if the file does not have it. */
function textIn(written: unknown): VocabEntry | undefined {
  if (!isObject(written)) return wholeText(written)
  return idInText(written.token) === undefined ? textOfToken(written) : undefined
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
  const add = (id: number | undefined, written: unknown) => {
    if (id === undefined || vocab[id] !== undefined) return
    const text = textIn(written)
    if (text !== undefined) vocab[id] = text
  }
  for (const [index, { written, alternatives = [] }] of entries.entries()) {
    add(ids[index], written)
    for (const alternative of alternatives) add(alternative.id, alternative.written)
  }
  return vocab
}

/** Returns the alternatives as columns; undefined if there are none, or the ids of any are unknown. */
export function topLogprobsOf(entries: readonly TokenEntry[]): TopLogprobs | undefined {
  let k = 0
  for (const { alternatives = [] } of entries) {
    if (alternatives.some(({ id }) => id === undefined)) return undefined
    k = Math.max(k, alternatives.length)
  }
  if (k === 0) return undefined
  const ids = new Array<number>(entries.length * k).fill(-1)
  const logprobs = new Array<number | null>(entries.length * k).fill(null)
  for (const [index, { alternatives = [] }] of entries.entries()) {
    let at = index * k
    for (const { id = -1, logprob } of alternatives) {
      const number = Number(logprob ?? Number.NaN)
      if (!Number.isFinite(number)) continue
      ids[at] = id
      logprobs[at] = number + 0
      at++
    }
  }
  return { k, ids, logprobs }
}
