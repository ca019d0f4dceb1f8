'use client'
/** What the servers of a group made of one setup: the first token that differs, and the differences of the logprobs before it. */
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { compareBothHref } from '#components/shell/hrefs.ts'
import { Link } from '#components/shell/navigation.tsx'
import { countText, decimalText } from '#components/token-view/numbers.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Select } from '#components/ui/field.tsx'
import type { ServerComparison as Answer } from '#lib/api/engine/server-comparison.ts'
import { hintOf } from '#lib/browser/hint-of.ts'
import { serverComparisonOptions } from '#lib/browser/queries.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'

interface ServerComparisonProps {
  readonly groupId: string
  /** Shows a sample, at a token if one is given. */
  readonly onShow: (key: string, token: number | undefined) => void
}

type Compared = Answer['comparisons'][number]

/** Summary and table of the servers of a group whose samples have ended. */
export function ServerComparisonPanel({ groupId, onShow }: ServerComparisonProps) {
  const [chosen, setChosen] = useState<string>()
  const { data, error } = useQuery(serverComparisonOptions(groupId, chosen))
  const id = useId()
  if (error)
    return <Banner tone="bad" title={`The servers cannot be compared: ${error.message}`} hint={hintOf(error)} />
  if (!data || data.comparisons.length === 0) return null
  const { servers, reference, comparisons } = data
  return (
    <details className="px-3.5 pb-2 text-xs" data-server-comparison={comparisons.length}>
      <summary className="cursor-pointer py-1.5 font-medium">{summaryText(comparisons, reference)}</summary>
      <div className="mt-2 grid gap-2">
        {servers.length > 2 && (
          <p className="flex items-center gap-2">
            <label htmlFor={id} className="text-dim">
              Compared with
            </label>
            <Select id={id} value={reference} onChange={({ target }) => setChosen(target.value)}>
              {servers.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
          </p>
        )}
        <ul className="grid max-h-64 gap-1.5 overflow-y-auto" aria-label={`Samples compared with ${reference}`}>
          {comparisons.map((compared) => (
            <ComparedSample key={compared.sample.key} compared={compared} onShow={onShow} />
          ))}
        </ul>
        <p className="text-faint">
          |Δ| of the logprobs of tokens that both sampled, in nats, before the first difference of the ids.
        </p>
      </div>
    </details>
  )
}

function ComparedSample({ compared, onShow }: { readonly compared: Compared } & Pick<ServerComparisonProps, 'onShow'>) {
  const { sample, reference, divergence, chance, logprobs } = compared
  const { spread, kinds, assumed, refused } = logprobs
  return (
    <li
      className="grid gap-x-4 gap-y-0.5 items-center rounded-md border border-line px-2.5 py-1.5 tabular-nums sm:grid-cols-[minmax(0,1fr)_auto]"
      data-divergence={divergence?.token ?? 'none'}
      data-median={spread?.median}
    >
      <p className="min-w-0 wrap-anywhere">
        <span className="font-medium">
          Sample {sample.index + 1} · {sample.server}
        </span>{' '}
        {divergence ? (
          <button
            type="button"
            className="min-h-6 font-medium text-accent hover:underline"
            onClick={() => onShow(sample.key, divergence.token < sample.tokens ? divergence.token : sample.tokens - 1)}
          >
            {divergenceText(divergence)}
          </button>
        ) : (
          <span>has the same {countText(compared.common)} ids</span>
        )}
      </p>
      <p className="sm:text-right">
        {spread && (
          <span title="Median, 99th percentile and greatest |Δ|">
            |Δ| {natsText(spread.median)} · {natsText(spread.p99)} · {natsText(spread.max)}{' '}
            <span className="text-dim">
              over {countWithNoun(spread.tokens, 'token')}
              {kinds.length > 0 && `, ${kinds.join(' and ')}`}
            </span>
          </span>
        )}{' '}
        <Link
          className="inline-flex min-h-6 items-center font-medium text-accent hover:underline"
          href={compareBothHref(reference.key, sample.key)}
          aria-label={`Compare sample ${reference.index + 1} with sample ${sample.index + 1}`}
        >
          Compare
        </Link>
      </p>
      {notesOn(compared).map((note) => (
        <p key={note} className="text-dim sm:col-span-2">
          {note}
        </p>
      ))}
      {assumed.map((why) => (
        <p key={why} className="text-warn sm:col-span-2">
          Compared as if both had one meaning: {why}.
        </p>
      ))}
      {refused.map(({ why, tokens }) => (
        <p key={why} className="text-warn sm:col-span-2">
          Logprobs of {countWithNoun(tokens, 'token')} are not compared: {why}.
        </p>
      ))}
      {chance !== null && <p className="text-dim sm:col-span-2">The ids may differ by chance. {chance}</p>}
    </li>
  )
}

/** Returns what limits the comparison: a run that failed, a prompt that differs, or no logprobs. */
function notesOn({ sample, reference, divergence, logprobs: { spread, refused } }: Compared): readonly string[] {
  return [
    ...[reference, sample].flatMap(({ server, outcome, outcomeKind, tokens }) =>
      outcomeKind === 'failed' || outcome === 'cancelled'
        ? [`${server} ended with ${outcome} after ${countWithNoun(tokens, 'token')}.`]
        : [],
    ),
    ...(divergence?.kind === 'prompt'
      ? ['The prompts differ: the servers have another tokenizer or another chat template.']
      : []),
    ...(!spread && refused.length === 0 ? ['No token before the difference has a logprob of both.'] : []),
  ]
}

const natsText = (nats: number): string => decimalText(nats, 4)

const divergenceText = ({ token, kind }: NonNullable<Compared['divergence']>): string =>
  kind === 'end' ? `ends apart at token ${countText(token)}` : `differs from token ${countText(token)} on`

/** Returns the finding in one line. */
function summaryText(comparisons: readonly Compared[], reference: string): string {
  const differing = comparisons.filter(({ divergence }) => divergence !== null)
  const [first] = differing.toSorted((a, b) => a.common - b.common)
  if (!first) return `All ids are equal to those of ${reference}.`
  return `${countText(differing.length)} of ${countWithNoun(comparisons.length, 'sample')} ${differing.length === 1 ? 'differs' : 'differ'} from ${reference}, first at token ${countText(first.common)} (${first.sample.server}).`
}
