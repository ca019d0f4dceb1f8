import { countText, decimalText, percentText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import type { LogprobDifference, Verification } from '#lib/analysis/verify/verification.ts'
import type { ExpertAgreement } from '#lib/trajectory/experts/agreement.ts'
import type { ServedFact } from '#lib/trajectory/scoring/served.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

interface VerifyReportProps {
  readonly found: Verification
  readonly served: readonly ServedFact[]
  /** Name of the server that scored the tokens. */
  readonly server: string
  readonly trajectory: TrajectoryView
  readonly onSelect: (tokenIndex: number) => void
  /** Agreement of the recorded experts with those of the scoring. Undefined: they were not compared. */
  readonly experts: ExpertAgreement | undefined
  /** Shows a colour mode. */
  readonly onColour: (mode: string) => void
}

/** Shows how far the scores of a server differ from the recorded logprobs, the outliers, and whether both come from the same model. */
export function VerifyReport({ found, served, experts, server, trajectory, onSelect, onColour }: VerifyReportProps) {
  const { sampled, prefill, tempered, outliers, unknown } = found
  return (
    <div className="grid gap-2 text-xs">
      {sampled ? (
        <p>
          <span className="block text-dim">Noise floor: mean |prefill − sampled|</span>
          <span className="font-semibold text-base tabular-nums" data-floor={sampled.mean}>
            {decimalText(sampled.mean, 4)}
          </span>{' '}
          nats over {countText(sampled.tokens)} trained {sampled.tokens === 1 ? 'token' : 'tokens'}
        </p>
      ) : (
        <p className="text-dim">No noise floor: no trained token has a logprob that can be compared with prefill.</p>
      )}
      <Facts>
        {sampled && <Fact name="p99 · max">{spreadText(sampled)}</Fact>}
        {prefill && (
          <Fact
            name="context, prefill again"
            title={`Recorded prefill logprobs of ${countText(prefill.tokens)} context tokens compared with prefill now: mean, 99th percentile, max`}
          >
            {decimalText(prefill.mean, 4)} · {spreadText(prefill)}
          </Fact>
        )}
        <Fact name="server">{server}</Fact>
        {served.map(({ name, verdict, text }) => (
          <Fact key={name} name={name}>
            <span className={verdict === 'other' ? 'text-warn' : verdict === 'same' ? '' : 'text-faint'}>{text}</span>
          </Fact>
        ))}
        {experts && (
          <>
            <Fact
              name="same experts"
              title={`Mean share of equal choices: ${countText(experts.perLayer)} experts in each of ${countText(experts.layers)} layers`}
            >
              <span data-experts={experts.mean}>{percentText(experts.mean)}</span>
            </Fact>
            <Fact name="tokens with all the same">
              {countText(experts.equal)} of {countText(experts.tokens)}
            </Fact>
          </>
        )}
        {unknown > 0 && <Fact name="trained without logprob">{countText(unknown)}</Fact>}
      </Facts>
      {tempered && (
        <p className="border-warn border-l-3 bg-warn-soft px-2.5 py-1.5">
          <span className="font-medium">Not comparable: {tempered.reasons.join('; ')}.</span>{' '}
          <span className="text-dim">
            The server gives sampled logprobs after that, and prefill logprobs at temperature 1. Over these{' '}
            {countText(tempered.difference.tokens)} tokens they differ by {decimalText(tempered.difference.mean, 3)}{' '}
            nats on average, which is not noise.
          </span>
        </p>
      )}
      {sampled && (
        <div>
          <h3 className="mb-1 font-medium text-dim">Outliers</h3>
          {outliers.length === 0 ? (
            <p className="text-faint">None: no token differs far more than the others.</p>
          ) : (
            <ul className="grid">
              {outliers.map(({ index, recorded, scored }) => (
                <li key={index}>
                  <button
                    type="button"
                    onClick={() => onSelect(index)}
                    className="flex w-full items-baseline justify-between gap-2 rounded-md px-1.5 py-1 text-left tabular-nums hover:bg-accent-soft"
                  >
                    <span className="min-w-0 truncate">
                      <span className="text-faint">{countText(index)}</span>{' '}
                      <bdi className="whitespace-pre font-mono">{pieceOf(trajectory, index)}</bdi>
                    </span>
                    <span className="shrink-0">
                      {decimalText(recorded)} → {decimalText(scored)}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      <p className="flex flex-wrap gap-1.5">
        <Button className="text-xs" onClick={() => onColour('column:verified')}>
          Colour tokens by the scores
        </Button>
        {experts && (
          <Button className="text-xs" onClick={() => onColour('experts')}>
            Colour tokens by their experts
          </Button>
        )}
      </p>
    </div>
  )
}

const spreadText = ({ p99, max }: LogprobDifference): string => `${decimalText(p99, 4)} · ${decimalText(max, 4)}`

/** Returns the text of a token in one line, with signs for line ends and tabs. */
function pieceOf(trajectory: TrajectoryView, index: number): string {
  const starts = segmentStarts(trajectory)
  const at = starts.findLastIndex((start) => start <= index)
  const id = trajectory.segments[at]?.ids[index - (starts[at] ?? 0)]
  return id === undefined ? '' : textOf([id], trajectory.vocab).replaceAll('\n', '↵').replaceAll('\t', '→')
}
