import { type ReactNode, useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { ExplainedName, Heading } from '#components/ui/facts.tsx'
import type { Recipe } from '#lib/templates/prefix-preservation/report.ts'
import { BOUNDARIES } from './words.ts'

interface RecipeBoxProps {
  readonly recipe: Recipe
  /** Opens a cell of the matrix. */
  readonly onCell: (id: string) => void
}

/** How Rollscope continues a conversation, and whether a render of the whole conversation gives the same. */
export function RecipeBox({ recipe, onCell }: RecipeBoxProps) {
  const { kind, endOfTurn, separator, appended, proofs } = recipe
  const failed = proofs.filter(({ result }) => result.kind !== 'held')
  const first = failed[0]
  return (
    <section aria-label="Incremental recipe" data-recipe={kind}>
      <Heading>How Rollscope continues a conversation</Heading>
      <p className="mb-2 max-w-prose text-dim">
        A question, a placeholder reply and the new messages are rendered and cut after the reply. The text after the
        cut is encoded and appended to the existing ids, which are never encoded again.
      </p>
      <p className="mb-2">
        {kind === 'held' ? (
          <>
            <span className="font-medium text-good">✓ Checked at all {countText(proofs.length)} boundaries:</span> the
            whole conversation has the same text after the reply.
          </>
        ) : (
          <>
            <span className="font-medium text-bad">✗ {kind === 'broken' ? 'The recipe fails' : 'Impossible'}:</span>{' '}
            {proofs.length === 0
              ? 'the template renders no conversation in which a reply is followed by messages.'
              : `${countText(failed.length)} of ${countText(proofs.length)} boundaries have different text after the reply.`}
          </>
        )}
      </p>
      {first && (
        <div className="mb-3 grid gap-1 border-bad border-l-3 pl-2.5 text-xs">
          <button
            type="button"
            className="justify-self-start font-medium text-accent hover:underline"
            onClick={() => onCell(first.cell)}
          >
            {first.cell}
          </button>
          {first.result.kind === 'failed' && <p>{first.result.failure.message}</p>}
          {first.result.kind === 'broken' && (
            <>
              <Text name="appended" text={first.result.appended} at={first.result.at} />
              <Text name="rendered" text={first.result.whole} at={first.result.at} />
            </>
          )}
        </div>
      )}
      <dl className="grid gap-1.5 text-xs">
        <Row name="a turn ends" title="Appended where the model did not write it">
          {endOfTurn ? (
            <code className="font-mono">
              {endOfTurn.text} <span className="text-dim">{endOfTurn.id}</span>
            </code>
          ) : (
            'without a token'
          )}
        </Row>
        <Row name="followed by" title="Between the end of a turn and what follows">
          <code className="font-mono">{separator === '' ? 'nothing' : JSON.stringify(separator)}</code>
        </Row>
        {appended
          .filter(({ boundary }) => boundary === 'user' || boundary === 'tool' || boundary === 'parallel')
          .map(({ boundary, text }) => (
            <Row key={boundary} name={BOUNDARIES[boundary].name} title={BOUNDARIES[boundary].title}>
              <code className="block whitespace-pre-wrap rounded border border-line bg-panel px-2 py-1 font-mono">
                {text.replaceAll('\n', '↵\n')}
              </code>
            </Row>
          ))}
      </dl>
    </section>
  )
}

function Row({
  name,
  title,
  children,
}: {
  readonly name: string
  readonly title: string
  readonly children: ReactNode
}) {
  const [isExplained, setIsExplained] = useState(false)
  return (
    <div className="grid grid-cols-[84px_minmax(0,1fr)] gap-x-2">
      <dt className="text-dim" title={title}>
        <ExplainedName name={name} isExplained={isExplained} onExplained={setIsExplained} />
      </dt>
      <dd className="[overflow-wrap:anywhere]">{children}</dd>
      {isExplained && <dd className="col-span-2 text-faint">{title}</dd>}
    </div>
  )
}

/** Characters of a text that are shown before the difference. */
const BEFORE = 24
const SHOWN = 120

function Text({ name, text, at }: { readonly name: string; readonly text: string; readonly at: number }) {
  const start = Math.max(0, at - BEFORE)
  return (
    <p className="grid grid-cols-[84px_minmax(0,1fr)] gap-x-2">
      <span className="text-dim">{name}</span>
      <code className="font-mono [overflow-wrap:anywhere]">
        {start > 0 && '…'}
        {JSON.stringify(text.slice(start, at)).slice(1, -1)}
        <mark className="bg-bad-soft text-bad underline">
          {JSON.stringify(text.slice(at, start + SHOWN)).slice(1, -1) || 'nothing else'}
        </mark>
        {text.length > start + SHOWN && '…'}
      </code>
    </p>
  )
}
