import { lineDiff, withGaps } from '#lib/lab/line-diff.ts'

interface RevisionDiffProps {
  readonly left: string
  readonly right: string
}

const MARGIN = 3
const SIGNS = { same: ' ', removed: '−', added: '+' } as const
const LOOKS = { same: '', removed: 'bg-bad-soft', added: 'bg-accent-soft' } as const

/** The lines in which two templates differ. Blanks at the end of a changed line are shown: templates live by them. */
export function RevisionDiff({ left, right }: RevisionDiffProps) {
  const lines = withGaps(lineDiff(left, right), MARGIN)
  if (left === right) return <p className="p-3 text-dim">Both are the same text.</p>
  return (
    <section
      aria-label="Differences"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
      tabIndex={0}
      className="max-h-[50dvh] overflow-auto rounded-md border border-line"
    >
      <ol className="w-max min-w-full font-mono text-[12px] leading-5">
        {lines.map((line, i) =>
          line.kind === 'gap' ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are known by their place alone
            <li key={i} className="bg-panel px-3 font-sans text-faint text-xs leading-6">
              {line.count} {line.count === 1 ? 'line' : 'lines'} the same
            </li>
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are known by their place alone
            <li key={i} data-diff={line.kind} className={`flex whitespace-pre ${LOOKS[line.kind]}`}>
              <span className="w-9 shrink-0 pr-2 text-right text-dim tabular-nums">{line.left}</span>
              <span className="w-9 shrink-0 pr-2 text-right text-dim tabular-nums">{line.right}</span>
              <span className="w-4 shrink-0 text-dim">{SIGNS[line.kind]}</span>
              <span className="pr-3">{line.kind === 'same' ? line.text : visibleEnd(line.text)}</span>
            </li>
          ),
        )}
      </ol>
    </section>
  )
}

const visibleEnd = (line: string): string =>
  line.replace(/[ \t\r]+$/, (blanks) => blanks.replaceAll(' ', '·').replaceAll('\t', '→').replaceAll('\r', '⇤'))
