/**
 * The meaning of each drift kind and its usual remedy, for the schema, the page, the command line and docs/compare.md.
 */

/** All drift kinds. */
export const DRIFT_KINDS = [
  'split',
  'normalisation',
  'partial-utf8',
  'call-json',
  'call-rewritten',
  'think-stripped',
  'think-inserted',
  'end-of-turn',
  'separator',
  'special-tokens',
  'context-changed',
  'truncation',
  'content',
  'unknown',
] as const
/** The name of a class of drift spans. */
export type DriftKind = (typeof DRIFT_KINDS)[number]

/** The texts of a drift kind. */
export interface KindText {
  readonly meaning: string
  /** Its forms by name; empty if there is only one. */
  readonly details: Readonly<Record<string, string>>
  /** The usual remedy in one sentence. */
  readonly remedy: string
}

/** The texts of all kinds. */
export const KIND_TEXTS: Readonly<Record<DriftKind, KindText>> = {
  split: {
    meaning: 'The same bytes as different tokens.',
    details: {
      merge: 'fewer tokens on the right',
      split: 'more tokens on the right',
      shift: 'as many tokens, split at other positions',
    },
    remedy: 'Pass token ids from call to call (TITO) and train on the sampled ids; no tokenizer setting avoids it.',
  },
  normalisation: {
    meaning: 'The same text in a different Unicode form.',
    details: {
      NFC: 'the right is the left in NFC (or the left alone is)',
      NFD: 'the same for NFD',
      NFKC: 'the same for NFKC',
      NFKD: 'the same for NFKD',
    },
    remedy:
      'Pass token ids (TITO), or remove the Unicode normaliser from the tokenizer or the text pipeline: what it changes cannot be restored.',
  },
  'partial-utf8': {
    meaning: 'Invalid UTF-8 bytes became U+FFFD.',
    details: {},
    remedy:
      'Pass token ids (TITO): decoding loses these bytes. If the response was cut within a character, raise its token limit.',
  },
  'call-json': {
    meaning: 'A tool call’s JSON has the same value, written differently.',
    details: {
      'key-order': 'keys in a different order',
      quotes: 'quoted differently, as Python prints a dict',
      booleans: 'True, False, None for true, false, null, or the reverse',
      numbers: '1.0 instead of 1, 1e3 instead of 1000, rounded big integers',
      escapes: 'different escapes in strings: \\u, \\/',
      spacing: 'different white space',
    },
    remedy:
      'Pass token ids (TITO), or keep the call as the text that the model wrote; otherwise serialise it as the model does, usually json.dumps(call, ensure_ascii=False) with its order of keys.',
  },
  'call-rewritten': {
    meaning: 'A tool call’s text has a different value, is elsewhere, or is missing.',
    details: {
      changed: 'its text has a different value',
      format: 'the same arguments in different markup',
      moved: 'it is elsewhere in the turn',
      dropped: 'it is missing, or on the right only',
    },
    remedy:
      'Pass token ids (TITO), or keep replies as raw text: a parser returns only what it parsed. The template lab shows its result.',
  },
  'think-stripped': {
    meaning: 'The left has a think block, or thoughts in one, and the right has none.',
    details: {},
    remedy:
      'Use a template that keeps earlier thinking (the template lab’s doctor shows the line that drops it), pass reasoning_content back with the messages, or pass token ids (TITO).',
  },
  'think-inserted': {
    meaning: 'The right has a think block, usually an empty one, and the left has none.',
    details: {},
    remedy:
      'Use a template that renders a reply in the history like a new one (the template lab’s doctor shows the line), or pass token ids (TITO).',
  },
  'end-of-turn': {
    meaning: 'The token that ends a turn differs.',
    details: {
      missing: 'one side has none',
      doubled: 'one side has two',
      alias: 'the turn ends with a different token',
    },
    remedy:
      'Keep the sampled stop token in the history, once (no_stop_trim and skip_special_tokens=false on SGLang), and add it only where the reply ended without it.',
  },
  separator: {
    meaning: 'Only line ends or spaces differ, at the edge of a turn, a think block or a call.',
    details: {},
    remedy:
      'Do not strip replies before they enter the history, and let the template write the same separators as the model; the template lab’s doctor shows the line.',
  },
  'special-tokens': {
    meaning: 'Special tokens or a turn header differ.',
    details: {
      spelled: 'one special token on one side, its text as ordinary tokens on the other',
      bos: 'the token that begins the text is missing, doubled or different',
      header: 'a different role, or a different form of a turn header',
      'generation-prompt': 'the header of the next reply is on one side only',
      other: 'different special tokens',
    },
    remedy:
      'Encode rendered text with add_special_tokens=false and special tokens recognised (split_special_tokens=false), and render both sides with the same template and options.',
  },
  'context-changed': {
    meaning: 'The system prompt or the list of tools differs.',
    details: {},
    remedy:
      'Render every turn with the same system prompt, tools (also their order and descriptions) and template options; remove dates and other changing values from the template.',
  },
  truncation: {
    meaning: 'One side ends early.',
    details: {},
    remedy: 'Give both sides the same turns, and look for a maximum length in the pipeline of the shorter one.',
  },
  content: {
    meaning: 'Ordinary text differs: a different reply, a different message.',
    details: {},
    remedy:
      'Compare trajectories of the same conversation; if they are, look for a step of the pipeline that edits messages.',
  },
  unknown: {
    meaning: 'A difference of no other kind.',
    details: {},
    remedy: 'Look at the ids and bytes of both sides; give the trajectory its tokenizer if their texts are unknown.',
  },
}
