import { lineDiff, type MarkedLine, withChangedWords, withGaps } from '#lib/templates/document/line-diff.ts'
import { elementAt } from '#lib/util/element-at.ts'

interface RevisionDiffProps {
  readonly left: string
  readonly right: string
  /** For renders: finds and shows the template line that wrote each differing line. */
  readonly source?: {
    /** Names of both sides. */
    readonly names: readonly [string, string]
    /** Returns the template line at a UTF-16 offset in the text of the side; undefined if unknown. */
    readonly lineAt: (side: 0 | 1, offset: number) => number | undefined
    readonly onLine: (side: 0 | 1, line: number) => void
  }
}

const MARGIN = 3
const SIGNS = { same: ' ', removed: '−', added: '+' } as const
const LOOKS = { same: '', removed: 'bg-bad-soft', added: 'bg-accent-soft' } as const
const MARKS = {
  same: '',
  removed: 'rounded-xs bg-[color-mix(in_srgb,var(--bad)_22%,transparent)] underline decoration-bad decoration-2',
  added: 'rounded-xs bg-[color-mix(in_srgb,var(--accent)_28%,transparent)] underline decoration-accent decoration-2',
} as const

/** The lines in which two texts differ, with changed words marked and trailing spaces of changed lines visible. */
export function RevisionDiff({ left, right, source }: RevisionDiffProps) {
  const lines = withGaps(withChangedWords(lineDiff(left, right)), MARGIN)
  if (left === right) return <p className="p-3 text-dim">Both are the same text.</p>
  const starts = [lineStarts(left), lineStarts(right)] as const
  return (
    <section
      aria-label="Differences"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the element scrolls, so the keyboard must reach it
      tabIndex={0}
      className="max-h-[50dvh] overflow-auto rounded-md border border-line"
    >
      <ol className="w-max min-w-full font-mono text-[12px] leading-5">
        {lines.map((line, i) =>
          line.kind === 'gap' ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the index is the identity of a line
            <li key={i} className="bg-panel px-3 font-sans text-faint text-xs leading-6">
              {line.count} {line.count === 1 ? 'line' : 'lines'} the same
            </li>
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: the index is the identity of a line
            <li key={i} data-diff={line.kind} className={`flex whitespace-pre ${LOOKS[line.kind]}`}>
              <span className="w-9 shrink-0 pr-2 text-right text-dim tabular-nums">{line.left}</span>
              <span className="w-9 shrink-0 pr-2 text-right text-dim tabular-nums">{line.right}</span>
              {source && <TemplateLine line={line} starts={starts} {...source} />}
              <span className="w-4 shrink-0 text-dim">{SIGNS[line.kind]}</span>
              <span className="pr-3">
                <LineText line={line} />
              </span>
            </li>
          ),
        )}
      </ol>
    </section>
  )
}

function LineText({ line: { kind, text, parts } }: { readonly line: MarkedLine }) {
  if (kind === 'same') return text
  if (!parts) return visibleEnd(text)
  return parts.map((part, i) => {
    const visibleText = i === parts.length - 1 ? visibleEnd(part.text) : part.text
    return part.isChanged ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the index is the identity of a part
      <mark key={i} className={`text-inherit ${MARKS[kind]}`}>
        {visibleText}
      </mark>
    ) : (
      visibleText
    )
  })
}

type TemplateLineProps = NonNullable<RevisionDiffProps['source']> & {
  readonly line: MarkedLine
  readonly starts: readonly [readonly number[], readonly number[]]
}

/** Button with the template line that wrote the first changed character of a line; empty for an equal line. */
function TemplateLine({ line: { kind, left, right, parts }, starts, names, lineAt, onLine }: TemplateLineProps) {
  const side = kind === 'removed' ? 0 : 1
  const number = side === 0 ? left : right
  const unchanged = parts?.[0]?.isChanged === false ? parts[0].text.length : 0
  const at = kind === 'same' || number === undefined ? undefined : elementAt(starts[side], number - 1) + unchanged
  const found = at === undefined ? undefined : lineAt(side, at)
  return (
    <span className="w-16 shrink-0 pr-2 text-right font-sans text-xs leading-5">
      {found !== undefined && (
        <button
          type="button"
          className="text-accent hover:underline"
          aria-label={`line ${found} of the template ${names[side]}`}
          title={`Written by line ${found} of the template ${names[side]}`}
          onClick={() => onLine(side, found)}
        >
          line {found}
        </button>
      )}
    </span>
  )
}

/** Returns the UTF-16 offset at which each line starts. */
function lineStarts(text: string): readonly number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

const visibleEnd = (line: string): string =>
  line.replace(/[ \t\r]+$/, (blanks) => blanks.replaceAll(' ', '·').replaceAll('\t', '→').replaceAll('\r', '⇤'))
