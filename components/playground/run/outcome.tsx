'use client'
/** How a run ended, with the next steps. This module is loaded if a run did not end by itself. */

import { Link } from '#components/shell/navigation.tsx'
import { outcomeText } from '#components/token-view/overview/outcome-text.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import type { Setup } from '#lib/share/settings/setup.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { type NextStep, nextSteps } from './next-steps.ts'

interface PlaygroundOutcomeProps {
  readonly trajectory: TrajectoryView
  readonly setup: Setup
  /** Returns why the server cannot serve the next call with a setup; undefined if it can. */
  readonly whyNot: (setup: Setup) => string | undefined
  readonly onStep: (step: NextStep) => void
}

/** Shows the outcome of a run and a button for each next step. */
export function PlaygroundOutcome({
  trajectory: { outcome, segments },
  setup,
  whyNot,
  onStep,
}: PlaygroundOutcomeProps) {
  const ended = outcomeText({ outcome, segments })
  const refusalOf = (step: NextStep) =>
    step.kind === 'send' || step.kind === 'resume' ? whyNot(step.setup) : undefined
  const steps = nextSteps({ outcome, segments, setup })
  const refusals = new Set(steps.flatMap((step) => refusalOf(step) ?? []))
  return (
    ended && (
      <Banner tone={ended.tone} title={ended.title} hint={ended.hint}>
        <div className="flex flex-wrap gap-2">
          {steps.map((step) =>
            step.kind === 'servers' ? (
              <Link
                key={step.kind}
                href={setup.server === '' ? '/servers' : `/servers?server=${encodeURIComponent(setup.server)}`}
                className="inline-flex min-h-8 items-center font-medium text-accent hover:underline"
              >
                {step.text}
              </Link>
            ) : (
              <Button
                // A step that raises a limit has another text afterwards. Its button stays the same, and keeps the focus.
                key={step.kind}
                disabled={refusalOf(step) !== undefined}
                title={refusalOf(step)}
                onClick={() => onStep(step)}
              >
                {step.text}
              </Button>
            ),
          )}
        </div>
        {[...refusals].map((refusal) => (
          <p key={refusal} className="basis-full text-dim text-xs">
            {refusal}
          </p>
        ))}
      </Banner>
    )
  )
}
