import { countText, decimalText, percentText } from '#components/token-view/numbers.ts'
import { Fact, Facts } from '#components/ui/facts.tsx'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { healthWords } from '../health-marks.tsx'
import { outcomeInk, timeText, trajectorySourceText } from './row-texts.ts'

/** Shows facts about a trajectory without opening it. */
export function RowFacts({ row }: { readonly row: TrajectorySummary }) {
  return (
    <Facts>
      <Fact name="outcome">
        <span className={outcomeInk(row)}>{row.outcome}</span>
      </Fact>
      <Fact name="segments">
        {countText(row.segments)} · {countText(row.turns)} of the model
      </Fact>
      <Fact name="tokens">{countText(row.tokens)}</Fact>
      <Fact name="trained (mask 1)">
        {countText(row.trained)}
        {row.tokens > 0 && ` · ${percentText(row.trained / row.tokens)}`}
      </Fact>
      {row.rewardWhy !== null && <Fact name="reward">{row.rewardWhy}</Fact>}
      <Fact name="mean logprob">{decimalText(row.meanLogprob)}</Fact>
      <Fact name="tool calls">
        {countText(row.toolCalls - row.failedCalls)} ✓ {countText(row.failedCalls)} ✗
      </Fact>
      <Fact name="health">{healthWords(row.health)}</Fact>
      <Fact name="model">{row.model ?? '—'}</Fact>
      <Fact name="source">{trajectorySourceText(row.source, row.importFormat)}</Fact>
      <Fact name="made">{timeText(row.createdAt)}</Fact>
      <Fact name="added">{timeText(row.addedAt)}</Fact>
      <Fact name="id">
        <span className="font-mono text-[11px]">{row.id}</span>
      </Fact>
    </Facts>
  )
}
