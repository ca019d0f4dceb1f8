import type { ReactNode } from 'react'
import { ForeignText } from '#components/ui/bounded-text.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { Problem, RepairRecord, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { timeText } from '#lib/util/text/times.ts'
import { clipText } from '../numbers.ts'
import { MissingBadges } from './missing-badges.tsx'

const LONG_TEXT = 200
/** Ids of groups may be hashes or whole prompts. */
const LONG_GROUP = 60

interface OriginProps {
  readonly trajectory: TrajectoryView
  /** Returns what can be done about a repair. Omitted: nothing. */
  readonly repairAction?: (repair: RepairRecord) => ReactNode
}

/** Shows where a trajectory comes from, what its file lacks, and how it was repaired. */
export function Origin({ trajectory, repairAction }: OriginProps) {
  const { provenance, model, createdAt, group, problems = [] } = trajectory
  const { lacked = [], repairs = [] } = provenance.kind === 'import' ? provenance : {}
  return (
    <div className="grid gap-2 text-dim text-xs [overflow-wrap:anywhere]">
      <p>
        <ForeignText>{sourceText(provenance)}</ForeignText>
        {model.name !== undefined && (
          <>
            {' · '}
            <ForeignText>{model.name}</ForeignText>
          </>
        )}
        <br />
        {timeText(createdAt)}
        {provenance.kind === 'import' && group && (
          <>
            <br />
            sample {group.index + 1} of the group <ForeignText>{clipText(group.id, LONG_GROUP)}</ForeignText>
          </>
        )}
        {provenance.kind === 'import' && model.tokenizer && (
          <>
            <br />
            texts by <ForeignText>{clipText(model.tokenizer.name, LONG_TEXT)}</ForeignText>
          </>
        )}
      </p>
      <MissingBadges trajectory={trajectory} />
      {lacked.length > 0 && (
        <details>
          <summary className="hover:text-ink">Missing in the file: {lacked.length}</summary>
          <ul className="mt-1 grid list-disc gap-0.5 pl-4">
            {lacked.map((words) => (
              <li key={words}>{visibleText(clipText(words, LONG_TEXT))}</li>
            ))}
          </ul>
        </details>
      )}
      {repairs.length > 0 && (
        <details>
          <summary className="hover:text-ink">Repaired: {repairs.length}</summary>
          <ul className="mt-1 grid list-disc gap-0.5 pl-4">
            {repairs.map((repair) => (
              <li key={`${repair.name} ${repair.message}`}>
                {visibleText(clipText(repair.message, LONG_TEXT))} {repairAction?.(repair)}
              </li>
            ))}
          </ul>
        </details>
      )}
      {problems.map(({ kind, message, raw }: Problem) => (
        <p key={`${kind} ${message}`} className="text-warn">
          {visibleText(clipText(message, LONG_TEXT))}
          {raw !== undefined && ` (${visibleText(clipText(raw, LONG_TEXT))})`}
        </p>
      ))}
    </div>
  )
}

const RETOKENIZED = {
  text: 'reconstructed: the text of a run, encoded again',
  structured: 'reconstructed: the messages of a run, calls structured, rendered with the chat template',
  raw: 'reconstructed: the messages of a run, calls as text, rendered with the chat template',
  read: 'the last prompt that the server of a chat endpoint read',
} as const

function sourceText(provenance: Trajectory['provenance']): string {
  if (provenance.kind === 'rollout')
    return provenance.endpoint === 'chat' ? `${provenance.application} · chat baseline` : provenance.application
  if (provenance.kind === 'retokenized') return RETOKENIZED[provenance.mode]
  if (provenance.kind !== 'import') return provenance.kind
  const file = provenance.file === undefined ? '' : `${clipText(provenance.file, LONG_TEXT)} · `
  return `${file}${clipText(provenance.format, LONG_TEXT)} file`
}
