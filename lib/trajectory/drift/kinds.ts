/** What each kind of drift means and what usually helps: for the schema, the page, the command line and docs/compare.md. */
import type { DriftKind } from './report.ts'

export interface KindText {
  readonly meaning: string
  /** The forms that it has, by name; empty: one form. */
  readonly details: Readonly<Record<string, string>>
  /** One sentence. */
  readonly remedy: string
}

export const KIND_TEXTS: Readonly<Record<DriftKind, KindText>> = {
  split: {
    meaning: 'The same bytes as other tokens.',
    details: {
      merge: 'fewer tokens on the right',
      split: 'more tokens on the right',
      shift: 'as many tokens, cut elsewhere',
    },
    remedy:
      'Pass token ids from call to call (TITO) and train on the sampled ids; no tokenizer setting makes it go away.',
  },
  normalisation: {
    meaning: 'The same text in another Unicode form.',
    details: {
      NFC: 'the right is the left in NFC (or the left alone is)',
      NFD: 'the same with NFD',
      NFKC: 'the same with NFKC',
      NFKD: 'the same with NFKD',
    },
    remedy:
      'Pass token ids (TITO), or take the Unicode normaliser out of the tokenizer or the text pipeline: what it changes cannot be had back.',
  },
  'partial-utf8': {
    meaning: 'Bytes that are no character became U+FFFD.',
    details: {},
    remedy:
      'Pass token ids (TITO): decoding loses these bytes. If the response was cut within a character, give it a larger token limit.',
  },
  'call-json': {
    meaning: 'A tool call’s JSON has the same value, written otherwise.',
    details: {
      'key-order': 'keys in another order',
      quotes: 'quoted otherwise, as Python prints a dict',
      booleans: 'True, False, None for true, false, null, or the reverse',
      numbers: '1.0 for 1, 1e3 for 1000, rounded big integers',
      escapes: 'other escapes in strings: \\u, \\/',
      spacing: 'other white space between the parts',
    },
    remedy:
      'Pass token ids (TITO), or keep the call as the text that the model wrote; else serialise it as the model does, mostly json.dumps(call, ensure_ascii=False) with its order of keys.',
  },
  'call-rewritten': {
    meaning: 'A tool call’s text says something else, stands elsewhere, or is gone.',
    details: {
      changed: 'its text has another value',
      format: 'the same arguments in other markup',
      moved: 'it stands elsewhere in the turn',
      dropped: 'it is gone, or on the right only',
    },
    remedy:
      'Pass token ids (TITO), or keep replies as raw text: a parser gives back only what it understood. The template lab shows what it reads.',
  },
  'think-stripped': {
    meaning: 'The left has a think block, or thoughts in one, and the right has none.',
    details: {},
    remedy:
      'Use a template that keeps earlier thinking (the template lab’s doctor shows the line that drops it), pass reasoning_content back with the messages, or pass token ids (TITO).',
  },
  'think-inserted': {
    meaning: 'The right has a think block, mostly an empty one, and the left has none.',
    details: {},
    remedy:
      'Use a template that writes the same for a reply in the history as for a new one (the template lab’s doctor shows the line), or pass token ids (TITO).',
  },
  'end-of-turn': {
    meaning: 'The token that ends a turn.',
    details: { missing: 'one side has none', doubled: 'one side has two', alias: 'another token ends the turn' },
    remedy:
      'Keep the sampled stop token in the history, once (no_stop_trim and skip_special_tokens=false on SGLang), and add it only where the reply ended without it.',
  },
  separator: {
    meaning: 'Only line ends or spaces at the edge of a turn, a think block or a call.',
    details: {},
    remedy:
      'Do not strip replies before they go into the history, and let the template’s separators be what the model wrote; the template lab’s doctor shows the line.',
  },
  'special-tokens': {
    meaning: 'Other special tokens, or a turn’s header.',
    details: {
      spelled: 'one special token on one side, its text as ordinary tokens on the other',
      bos: 'the token that begins the text is missing, doubled or another',
      header: 'another role, or another form of a turn’s header',
      'generation-prompt': 'the header of the next reply is on one side only',
      other: 'other special tokens',
    },
    remedy:
      'Encode rendered text with add_special_tokens=false and special tokens recognised (split_special_tokens=false), and render both sides with the same template and options.',
  },
  'context-changed': {
    meaning: 'The system prompt or the list of tools.',
    details: {},
    remedy:
      'Render every turn with the same system prompt, tools (order and description too) and template options; take dates and other changing values out of the template.',
  },
  truncation: {
    meaning: 'One side simply ends.',
    details: {},
    remedy: 'Give both sides the same turns, and look for a maximal length in the pipeline of the shorter one.',
  },
  content: {
    meaning: 'Ordinary text that differs: another reply, another message.',
    details: {},
    remedy: 'Compare trajectories of the same conversation; if they are, look at what edits messages on the way.',
  },
  unknown: {
    meaning: 'None of these.',
    details: {},
    remedy: 'Look at the ids and bytes of both sides; give the trajectory its tokenizer if their texts are not known.',
  },
}
