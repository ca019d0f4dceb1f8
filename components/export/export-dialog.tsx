'use client'
import { type ReactNode, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { CheckField } from '#components/ui/field.tsx'
import type { ExportChoice } from '#lib/browser/files/files.ts'
import type { AdvantageFormula } from '#lib/trajectory/reward/advantage.ts'
import { FormulaField } from './formula-field.tsx'

interface ExportDialogProps {
  readonly title: string
  readonly choices: readonly ExportChoice[]
  /** Name of the exported content in the sentences about losses. */
  readonly subject?: 'this trajectory' | 'these trajectories'
  /** Whether a branch inserted tokens, so that the export decides whether they are trained. If omitted, none did. */
  readonly hasForced?: boolean
  /** Whether an export can add advantages. If omitted, it cannot. */
  readonly offersAdvantage?: boolean
  readonly onClose: () => void
  /** Further rows of the list. */
  readonly children?: ReactNode
}

/** Lists the export formats, each with what it keeps in general and what it loses of this content. */
export function ExportDialog({
  title,
  choices,
  subject = 'this trajectory',
  hasForced = false,
  offersAdvantage = false,
  onClose,
  children,
}: ExportDialogProps) {
  const [isTraining, setIsTraining] = useState(false)
  const [formula, setFormula] = useState<AdvantageFormula>()
  return (
    <Dialog title={title} onClose={onClose}>
      {hasForced && (
        <section aria-label="Forced tokens" className="mb-4 border-line border-b pb-3">
          <CheckField
            label="Train the forced tokens (loss mask 1)"
            checked={isTraining}
            onChange={(event) => setIsTraining(event.target.checked)}
          />
          <p className="text-dim text-xs">
            A branch inserted them; the model did not sample them. Unchecked, their loss mask stays 0, as recorded.
          </p>
        </section>
      )}
      {offersAdvantage && (
        <section aria-label="Advantages" className="mb-4 border-line border-b pb-3">
          <FormulaField label="Advantage of each trained token" formula={formula} onFormula={setFormula} none="none" />
          <p className="mt-1 text-dim text-xs">
            {subject === 'this trajectory'
              ? 'The sample is compared with its whole group.'
              : 'Samples are compared with their whole group, trajectories without a group with the others of this file.'}
          </p>
        </section>
      )}
      <ul className="grid gap-4">
        {choices.map(({ name, label, keeps, keepsAdvantages = false, lost: loss, refusal, save }, index) => (
          <li key={name} className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-x-4">
            <div className="min-w-0">
              <h3 className="font-medium">{label}</h3>
              <p className="text-dim text-xs">{keeps}</p>
              {formula && (
                <p className={`mt-1 text-xs ${keepsAdvantages ? 'text-good' : 'text-warn'}`}>
                  {keepsAdvantages
                    ? 'With the advantages.'
                    : 'Without the advantages: the format has no place for them.'}
                </p>
              )}
              {refusal !== undefined ? (
                <p className="mt-1 text-warn text-xs">{refusal}</p>
              ) : loss ? (
                <Losses words={loss} subject={subject} />
              ) : (
                // The line has its space before the losses are known, so that no button moves when they arrive.
                <p className="mt-1 text-xs" aria-hidden>
                  {'\u00a0'}
                </p>
              )}
            </div>
            <Button
              look={index === 0 ? 'primary' : 'plain'}
              disabled={refusal !== undefined}
              title={refusal}
              aria-label={`Export as ${label}`}
              onClick={() => {
                save(isTraining ? 'trained' : 'context', formula)
                onClose()
              }}
            >
              Export
            </Button>
          </li>
        ))}
        {children}
      </ul>
    </Dialog>
  )
}

interface LossesProps {
  readonly words: readonly string[]
  readonly subject: string
}

function Losses({ words, subject }: LossesProps) {
  if (words.length === 0) return <p className="mt-1 text-good text-xs">Nothing of {subject} is lost.</p>
  return (
    <details className="mt-1 text-xs">
      <summary className="text-warn hover:text-ink">
        {words.length === 1 ? `One thing of ${subject} is lost` : `${words.length} things of ${subject} are lost`}
      </summary>
      <ul className="mt-1 grid list-disc gap-0.5 pl-4 text-dim">
        {words.map((lost) => (
          <li key={lost}>{lost}</li>
        ))}
      </ul>
    </details>
  )
}
