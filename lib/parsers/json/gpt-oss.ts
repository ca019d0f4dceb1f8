/**
 * gpt-oss, Harmony: a reply consists of messages, each with a header: `<|start|>assistant<|channel|>commentary
 * to=functions.NAME <|constrain|>json<|message|>{…}<|call|>`. The recipient may precede the channel. The first message
 * has no start, because the prompt ends with it. analysis is thinking; final, and commentary to nobody, are text.
 */

import { skipSpace } from '#lib/json/json-scan.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { ParsedCall, TextRange, ToolParser } from '../parser.ts'
import {
  type CallFault,
  type DelimiterFinders,
  earlierPosition,
  malformedCall,
  malformedEnd,
} from '../reading/calls.ts'
import { createFinder } from '../reading/finder.ts'
import { createJsonBodyReader, type JsonBodyReader } from '../reading/json-body.ts'
import { markupOf } from '../reading/rest.ts'
import { createRangeCheck } from '../reading/within.ts'

const CALL = '<|call|>'
/** Calls open with a header, which has no fixed beginning; thinking is recognized by headers too. */
const delimiters = { open: '<|channel|>', close: '', end: CALL } as const

/** Parser of gpt-oss. */
export const gptOss: ToolParser = {
  name: 'gpt-oss',
  sglangNames: ['gpt-oss'],
  delimiters,
  parse,
  markup: (text, calls, shielded) => markupOf(text, FRAME, calls, shielded),
}

function parse(text: string, shielded: readonly TextRange[]): readonly ParsedCall[] {
  const nextCall = createFinder(text, CALL)
  const others = ['<|start|>', '<|end|>', '<|return|>'].map((tag) => createFinder(text, tag))
  const nextOther = (from: number) => others.reduce((first, next) => earlierPosition(first, next(from)), -1)
  const finders = { nextClose: nextCall, nextOpen: nextOther }
  const read = createJsonBodyReader(text, CALL, finders, 'the message')
  const calls: ParsedCall[] = []
  let end = 0
  for (const header of headersIn(text, shielded)) {
    if (header.start < end || !header.recipient) continue
    const call = readCall(text, header, header.recipient, read, finders)
    calls.push(call)
    end = call.text.end
  }
  return calls
}

interface Header extends TextRange {
  /** Range of the recipient's name; undefined if the message has no recipient. */
  readonly recipient: TextRange | undefined
}

const MESSAGE = /<\|(?:start|channel|message|end|return|call)\|>/g
const RECIPIENT = /(?:^|[\s>])to=([^\s<]*)/
const ROLE = /^<\|start\|>\s*(?!assistant\b)[^\s<]/

/** Returns the headers of messages in order, outside of the shielded ranges. */
function headersIn(text: string, shielded: readonly TextRange[]): readonly Header[] {
  const isShielded = createRangeCheck(shielded)
  const headers: Header[] = []
  /** Start of the current header; undefined outside of headers. */
  let start: number | undefined = /^\s*to=/.test(text) && !createRangeCheck(shielded)(0) ? 0 : undefined
  for (const { 0: tag, index } of text.matchAll(MESSAGE)) {
    if (isShielded(index)) {
      start = undefined
      continue
    }
    if (tag === '<|start|>') start = index
    else if (tag === '<|channel|>') start ??= index
    else {
      if (tag === '<|message|>' && start !== undefined) headers.push(headerAt(text, start, index + tag.length))
      start = undefined
    }
  }
  return headers
}

function headerAt(text: string, start: number, end: number): Header {
  const written = text.slice(start, end)
  const found = ROLE.test(written) ? null : RECIPIENT.exec(written)
  if (!found) return { start, end, recipient: undefined }
  const at = start + found.index + found[0].length
  return { start, end, recipient: { start: at - elementAt(found, 1).length, end: at } }
}

const NAMESPACE = 'functions.'

function readCall(
  text: string,
  header: Header,
  to: TextRange,
  read: JsonBodyReader,
  finders: DelimiterFinders,
): ParsedCall {
  const written = text.slice(to.start, to.end)
  const nameStart = to.start + (written.startsWith(NAMESPACE) ? NAMESPACE.length : 0)
  const name = text.slice(nameStart, to.end)
  const fault = (found: CallFault) => {
    const bounds = malformedEnd(text, found.at, finders)
    const end = bounds.isClosed ? bounds.body + CALL.length : bounds.body
    const call = malformedCall(text, header.start, found, NONE, { body: end, isClosed: false })
    return { ...call, raw: text.slice(header.start, bounds.body) }
  }
  if (name === '') return fault({ why: 'the recipient names no tool', at: to.start })
  const contentStart = skipSpace(text, header.end, text.length)
  const isEmpty = text.startsWith(CALL, contentStart)
  const body = isEmpty ? { ok: true as const, start: contentStart, members: [], close: contentStart } : read(header.end)
  if (!body.ok) return fault({ why: body.why, at: body.at, name })
  return {
    kind: 'parsed',
    name,
    nameText: { start: nameStart, end: to.end },
    ignored: [],
    input: isEmpty ? {} : (JSON.parse(text.slice(body.start, body.close)) as Record<string, unknown>),
    arguments: body.members.map((member) => ({ name: member.name, key: member.key, text: member.value })),
    raw: text.slice(header.start, body.close),
    text: { start: header.start, end: body.close + CALL.length },
  }
}

const NONE = { open: '', close: '' } as const

/** Headers and ends of messages without a call. */
const FRAME =
  /(?:<\|start\|>[^<]*)?(?:<\|channel\|>[^<]*(?:<\|constrain\|>[^<]*)?)?<\|message\|>|<\|start\|>\s*[\w.]*|<\|(?:end|return|call)\|>/g
