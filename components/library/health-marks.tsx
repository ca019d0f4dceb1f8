import { ArrowLeftRight, CircleX, TriangleAlert } from 'lucide-react'
import { countText } from '#components/token-view/numbers.ts'
import type { HealthSummary } from '#lib/trajectory/health/health.ts'

/** Shows icons with the numbers of errors, warnings and drift spans of a trajectory; nothing if it was not checked or has no findings. */
export function HealthMarks({ health }: { readonly health: HealthSummary | null }) {
  if (!health) return null
  const { findings } = health
  const marks = [
    { Icon: CircleX, ink: 'text-bad', found: findings.filter(({ severity }) => severity === 'error') },
    {
      Icon: TriangleAlert,
      ink: 'text-warn',
      found: findings.filter(({ kind, severity }) => severity === 'warning' && kind !== 'drift'),
    },
    { Icon: ArrowLeftRight, ink: 'text-dim', found: findings.filter(({ kind }) => kind === 'drift') },
  ]
  return marks
    .filter(({ found }) => found.length > 0)
    .map(({ Icon, ink, found }) => {
      const words = found.map(({ label }) => label).join('; ')
      const [first] = found
      return (
        <span
          key={ink}
          title={words}
          className={`inline-flex items-center gap-0.5 whitespace-nowrap text-[11px] ${ink}`}
        >
          <Icon size={12} aria-hidden />
          <span aria-hidden>{countText(first?.kind === 'drift' ? first.count : found.length)}</span>
          <span className="sr-only">{words}</span>
        </span>
      )
    })
}

/** Returns the findings in words, and the checks whose result is unknown. */
export function healthWords(health: HealthSummary | null): string {
  if (!health) return 'not checked yet'
  const { findings, unknown } = health
  const found = findings.map(({ label }) => label)
  return [found.length > 0 ? found.join(', ') : 'no findings', ...unknown].join('; ')
}
