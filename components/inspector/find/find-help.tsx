import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import { namesHere, trajectoryColumns } from '#lib/analysis/find/names-here.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

interface FindHelpProps {
  readonly trajectory: TrajectoryView
  readonly recent: readonly string[]
  /** Searches for this query instead. */
  readonly onChoose: (query: string) => void
  readonly onForget: () => void
}

/** Lists the terms of a query with examples that can be chosen, and the names that occur in this trajectory. */
export function FindHelp({ trajectory, recent, onChoose, onForget }: FindHelpProps) {
  const columns = trajectoryColumns(trajectory).slice(0, MANY)
  const tools = (namesHere(trajectory, 'tool') ?? []).slice(0, MANY)
  const versions = (namesHere(trajectory, 'version') ?? []).slice(0, MANY)
  const here = [
    ...columns.map((name) => ({
      example: /^[A-Za-z_][\w.]*$/.test(name) ? `${name}>0` : `column:${JSON.stringify(name)}>0`,
      meaning: 'a column of this file',
    })),
    ...tools.map((name) => ({ example: `tool:${quoteName(name)}`, meaning: 'a tool of this trajectory' })),
    ...versions.map((name) => ({ example: `version:${quoteName(name)}`, meaning: 'weights that sampled tokens here' })),
  ]
  return (
    <>
      <p className="text-dim">
        All terms side by side must match. <code>or</code> and <code>|</code> join, <code>-</code> and <code>not</code>{' '}
        exclude, brackets group. Words side by side are one text.
      </p>
      {recent.length > 0 && (
        <>
          <div className="flex items-baseline justify-between">
            <Heading>Recent</Heading>
            <Button look="quiet" className="text-xs" onClick={onForget}>
              Forget
            </Button>
          </div>
          <ul>
            {recent.map((query) => (
              <li key={query}>
                <Choice query={query} onChoose={onChoose} />
              </li>
            ))}
          </ul>
        </>
      )}
      {here.length > 0 && <Terms heading="In this trajectory" terms={here} onChoose={onChoose} />}
      {TERMS.map(({ heading, terms }) => (
        <Terms key={heading} heading={heading} terms={terms} onChoose={onChoose} />
      ))}
    </>
  )
}

interface Term {
  readonly example: string
  readonly meaning: string
}

function Terms({
  heading,
  terms,
  onChoose,
}: {
  readonly heading: string
  readonly terms: readonly Term[]
  readonly onChoose: (query: string) => void
}) {
  return (
    <>
      <Heading>{heading}</Heading>
      <dl className="grid grid-cols-[minmax(0,11rem)_minmax(0,1fr)] items-baseline gap-x-3">
        {terms.map(({ example, meaning }) => (
          <div key={example} className="contents">
            <dt>
              <Choice query={example} onChoose={onChoose} />
            </dt>
            <dd className="text-dim">{meaning}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

const Choice = ({ query, onChoose }: { readonly query: string; readonly onChoose: (query: string) => void }) => (
  <button
    type="button"
    className="wrap-anywhere min-h-6 rounded-sm px-1 text-left font-mono text-accent hover:bg-panel"
    onClick={(event) => {
      event.currentTarget.closest<HTMLElement>('[popover]')?.hidePopover()
      onChoose(query)
    }}
  >
    {visibleText(query)}
  </button>
)

const quoteName = (name: string): string => (/^[\w.-]+$/.test(name) ? name : JSON.stringify(name))

/** Number of names listed: a file may have hundreds. */
const MANY = 6

const TERMS: readonly { readonly heading: string; readonly terms: readonly Term[] }[] = [
  {
    heading: 'Text, over the borders of tokens',
    terms: [
      { example: 'loss mask', meaning: 'a capital letter makes the search case-sensitive' },
      { example: 'case:error', meaning: 'case-sensitive' },
      { example: '"a or b"', meaning: 'operators are plain text in quotes; \\n, \\t, \\" as in JSON' },
      { example: '/"(\\w+)":/i', meaning: 'a regular expression, flags i m s u v' },
      { example: 'id:151645', meaning: 'a token id; id:1,2,3 one after the other' },
    ],
  },
  {
    heading: 'Numbers: < <= > >= = and ranges a-b, a..b',
    terms: [
      {
        example: 'logprob<-3',
        meaning: 'of trained tokens, as in the colours; also surprise (surprisal, −logprob) and p',
      },
      {
        example: 'rank>1',
        meaning:
          'trained tokens that are not the most likely; ranks beyond the recorded alternatives exceed any number',
      },
      { example: 'entropy>1', meaning: 'trained, in nats, approximate; margin between the two most likely' },
      { example: 'prompt logprob<-3', meaning: 'context tokens too: prompt can precede any of these six' },
      { example: 'mask:1', meaning: 'trained' },
      { example: 'index:100-200', meaning: 'positions in the trajectory; segment:3' },
      { example: 'special:1', meaning: 'added tokens' },
      { example: 'unknown:logprob', meaning: 'where a number is unknown' },
    ],
  },
  {
    heading: 'What tokens belong to',
    terms: [
      { example: 'kind:response', meaning: 'prompt, response, tool (results)' },
      { example: 'span:think', meaning: 'think, call, argument, special, text' },
      { example: 'tool:name', meaning: 'its calls; call:2 the second call, arg:name an argument' },
      { example: 'finish:length', meaning: 'how the response ended' },
      { example: 'problem:number', meaning: 'values that could not be stored or did not agree' },
    ],
  },
]
