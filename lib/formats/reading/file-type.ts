/** A file type other than UTF-8 JSON, recognised by its first bytes, with a command that converts it. */

/** A recognised file type. */
export interface FileType {
  /** Name with its article, for a sentence. */
  readonly name: string
  /** Advice: a command if one converts the file. */
  readonly hint: string
}

interface KnownType {
  readonly name: string
  /**
   * Pattern of the first characters, decoded as UTF-8: an invalid byte is `\uFFFD`, and control characters are their
   * pictures.
   */
  readonly begins: RegExp
  /** Pattern that the file's name must match too. */
  readonly named?: RegExp
  /** `bare` is the file's name without its last extension. */
  readonly hint: (file: string, bare: string) => string
}

/** Number of characters to examine: enough for the first entry of an archive. */
export const BEGINNING = 512

const unpackHint = (command: string) => (file: string) => `Unpack it first: \`${command} ${file}\`.`
const recodeHint = (encoding: string) => (file: string, bare: string) =>
  `Convert it: \`iconv -f ${encoding} -t UTF-8 ${file} > ${bare}.utf8.json\`.`

/** The script loads a file without executing the code in it. */
const torch = (file: string, bare: string) =>
  `Convert it with Rollscope’s script: \`python public/convert_pt.py ${file}\` writes ${bare}.jsonl. The application serves the script at /convert_pt.py.`

/** Names of files that torch.save writes: those of its old form begin as every pickle does. */
const TORCH = /\.(pt|pth|ckpt)$/i

/** Text that does not begin as JSON. */
const TABLE_TEXT = /^(?![\s\uFEFF]*[[{])[^\uFFFD␀]+$/
const tableHint = (options: string) => (file: string, bare: string) =>
  `Convert it in Python: \`pandas.read_csv("${file}"${options}).to_json("${bare}.jsonl", orient="records", lines=True)\`.`

/** The first match wins. */
const TYPES: readonly KnownType[] = [
  { name: 'an xz file', begins: /^\uFFFD7zXZ␀/, hint: unpackHint('xz -dk') },
  { name: 'a bzip2 file', begins: /^BZh[1-9]1AY&SY/, hint: unpackHint('bunzip2 -k') },
  { name: 'an LZ4 file', begins: /^␄"M␘/, hint: unpackHint('lz4 -d') },
  {
    name: 'a PyTorch file',
    begins: /^PK␃␄[\s\S]{0,200}?\/(data\.pkl|constants\.pkl|\.format_version|\.data\/|byteorder)/,
    hint: torch,
  },
  {
    name: 'NumPy arrays',
    begins: /^(\uFFFDNUMPY|PK␃␄[\s\S]{0,200}?\.npy)/,
    hint: () =>
      'Write its records as JSON lines in Python: `json.dumps` of a dict with `array.tolist()` for each array.',
  },
  { name: 'a PyTorch file', begins: /^\uFFFD[␂-␅]/, named: TORCH, hint: torch },
  {
    name: 'a Python pickle',
    // Protocols 0 and 1 begin with their first value, later ones with their number.
    begins: /^(\uFFFD[␂-␅]|\([dl]p?\d*␊|c[\w.]+␊\w+␊|[\]}]q␀)/,
    hint: () => 'Write its samples as JSON lines in Python, if you trust it: loading a pickle runs the code in it.',
  },
  {
    name: 'a chat history of aider',
    begins: /^␊*# aider chat started at /,
    hint: () =>
      'It has no calls and no messages apart. Record the calls of aider in a session instead (docs/sessions.md).',
  },
  {
    name: 'a safetensors file, which contains weights',
    begins: /^[\s\S]{1,4}␀{4,7}\{"/,
    hint: () => 'Open the rollouts of the model instead: JSON or JSON lines.',
  },
  {
    name: 'a MessagePack file',
    begins: /^\uFFFD/,
    named: /\.(msgpack|mpk)$/i,
    hint: (file) =>
      `Write its values as JSON lines in Python: \`json.dumps(value)\` for each value of \`msgpack.Unpacker(open("${file}", "rb"))\`.`,
  },
  { name: 'a CSV table', begins: TABLE_TEXT, named: /\.csv$/i, hint: tableHint('') },
  { name: 'a TSV table', begins: TABLE_TEXT, named: /\.(tsv|tab)$/i, hint: tableHint(', sep="\\t"') },
  { name: 'text in UTF-32', begins: /^(\uFFFD\uFFFD␀␀|␀␀\uFFFD\uFFFD)/, hint: recodeHint('UTF-32') },
  { name: 'text in UTF-32', begins: /^[[{"]␀␀␀/, hint: recodeHint('UTF-32LE') },
  { name: 'text in UTF-32', begins: /^␀␀␀[[{"]/, hint: recodeHint('UTF-32BE') },
]

/** Returns the type of a file with this beginning, or undefined if it may be JSON. `file` is its name, if any. */
export function fileTypeOf(beginning: string, file: string | undefined): FileType | undefined {
  const printable = printableBeginning(beginning)
  const type = TYPES.find(({ begins, named }) => begins.test(printable) && (!named || named.test(file ?? '')))
  if (!type) return undefined
  // A name with shell or Python syntax is left for the reader to insert.
  const safe = file !== undefined && /^(?!-)[\w./-]+$/.test(file) ? file : 'FILE'
  return { name: type.name, hint: type.hint(safe, safe.replace(/(?<=[^/])\.[^./]+$/, '')) }
}

/** Returns the first characters with pictures in place of control characters, as patterns expect them. */
export const printableBeginning = (beginning: string): string =>
  beginning
    .slice(0, BEGINNING)
    .replace(/\p{Cc}/gu, (control) => String.fromCharCode(NULL_PICTURE + control.charCodeAt(0)))

const NULL_PICTURE = '␀'.charCodeAt(0)

/** Decodes the first characters of bytes that may not be text. */
export const decodedBeginning = (bytes: Uint8Array): string => new TextDecoder().decode(bytes.subarray(0, BEGINNING))
