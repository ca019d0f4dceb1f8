import type { KeyboardEvent } from 'react'
import { FindBar } from '#components/inspector/find/find-bar.tsx'
import { RECENT_FINDS } from '#components/inspector/find/recent-finds.ts'
import type { RatiosState } from '#components/inspector/ratios/use-ratios.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { ColourBar } from '#components/token-view/colour/colour-bar.tsx'
import { usePreference } from '#lib/browser/preference.ts'
import { usePanelCommand } from './selection/panel-commands.ts'
import { TokenStage } from './token-stage.tsx'
import type { InspectionState } from './use-inspection-state.ts'
import type { TokenControls } from './use-token-controls.ts'

// The placeholders of the ratios are as high, so that the tokens do not move.
const RatioPanel = lazyPart(
  async () => (await import('#components/inspector/ratios/ratio-panel.tsx')).RatioPanel,
  <div className="h-27.5 lg:h-69.5" />,
)
const ValuePanel = lazyPart(async () => (await import('#components/inspector/value/value-panel.tsx')).ValuePanel)
const RATIO_LEGEND = <div className="h-12 w-125 max-w-full" />
const RatioLegend = lazyPart(
  async () => (await import('#components/inspector/ratios/ratio-legend.tsx')).RatioLegend,
  RATIO_LEGEND,
)

interface TokenTabProps {
  readonly state: InspectionState
  readonly ratios: RatiosState
  readonly controls: TokenControls
  /** Runs the command of a key that is pressed in the token view. */
  readonly onKey: (event: KeyboardEvent) => void
}

/** Shows the colours, the search and the tokens. */
export function TokenTab({ state, ratios, controls, onKey }: TokenTabProps) {
  const { inspection, onPoint, onVisible } = state
  const { storedKey, offer } = inspection
  const { hasValue, onValue } = controls
  usePanelCommand(
    offer,
    'value',
    storedKey === undefined
      ? undefined
      : () => {
          inspection.onView({ tab: 'tokens' })
          onValue(!hasValue)
        },
  )
  const [recent, setRecent] = usePreference(RECENT_FINDS)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the token view inside
    <div
      onKeyDown={(event) => (event.target as Element).matches('[role="grid"]') && onKey(event)}
      className="flex h-full flex-col"
    >
      <div
        className={`flex flex-wrap items-center gap-x-4 gap-y-1.5 border-line border-b px-3.5 py-1.5 ${controls.hasTools ? '' : 'max-lg:hidden'}`}
      >
        <ColourBar
          trajectory={inspection.trajectory}
          colouring={inspection.colouring}
          onChange={inspection.onView}
          legend={
            ratios.kind === 'loading' || (ratios.kind === 'shown' && ratios.ratios.report.tokens.length > 0) ? (
              <div className="max-lg:hidden">
                {ratios.kind === 'shown' ? (
                  <RatioLegend ratios={ratios.ratios} onView={inspection.onView} />
                ) : (
                  RATIO_LEGEND
                )}
              </div>
            ) : ratios.kind === 'absent' || ratios.kind === 'shown' ? (
              // The panel below says what is missing.
              <span />
            ) : undefined
          }
        />
        <div className="min-w-0 flex-1 basis-60">
          <FindBar inspection={inspection} recent={recent} onRecent={setRecent} />
        </div>
      </div>
      {ratios.kind !== 'off' && (
        <div className="max-h-[75%] shrink-0 overflow-y-auto">
          <RatioPanel inspection={inspection} state={ratios} />
        </div>
      )}
      {hasValue && storedKey !== undefined && (
        <div className="max-h-[75%] shrink-0 overflow-y-auto max-sm:max-h-full">
          <ValuePanel inspection={inspection} storedKey={storedKey} onClose={() => onValue(false)} />
        </div>
      )}
      <TokenStage inspection={inspection} options={controls.options} onPoint={onPoint} onVisible={onVisible} />
    </div>
  )
}
