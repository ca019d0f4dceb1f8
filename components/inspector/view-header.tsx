import { GitCompare, SlidersHorizontal } from 'lucide-react'
import { TokenViewButtons } from '#components/commands/token-view-buttons.tsx'
import { markKindsOf } from '#components/token-view/token-marks.ts'
import { IconButton } from '#components/ui/icon-button.tsx'
import { TabList } from '#components/ui/tabs.tsx'
import { isTextOnly } from '#lib/trajectory/tokens/texts.ts'
import { INSPECTOR_TABS, type InspectorPartProps, type InspectorTab, TAB_TITLES } from './inspection.ts'
import type { TokenControls } from './use-token-controls.ts'

interface ViewHeaderProps extends InspectorPartProps {
  /** Id of the tabs. */
  readonly id: string
  readonly controls: TokenControls
  readonly onCommands: () => void
}

/** Shows the tabs, and the buttons that change the token view. */
export function ViewHeader({ inspection, id, controls, onCommands }: ViewHeaderProps) {
  const { view, onView, onCompare } = inspection
  // Without tokens there is nothing to show in a grid.
  const tabs = isTextOnly(inspection.trajectory) ? INSPECTOR_TABS.filter((tab) => tab !== 'tokens') : INSPECTOR_TABS
  const { legend, options, onOptions, hasTools, onTools } = controls
  return (
    <div className="flex items-center gap-x-3 border-line border-b px-3.5">
      <TabList<InspectorTab>
        id={id}
        label="View"
        value={view.tab}
        onChange={(tab) => onView({ tab })}
        tabs={tabs.map((value) => ({ value, text: TAB_TITLES[value] }))}
      />
      <span className="ml-auto flex shrink-0 items-center gap-1">
        {view.tab === 'tokens' && (
          <span className="lg:hidden">
            <IconButton label="Colours and find" isPressed={hasTools} onClick={() => onTools(!hasTools)}>
              <SlidersHorizontal size={15} aria-hidden />
            </IconButton>
          </span>
        )}
        {onCompare && (
          <IconButton label="Compare with retokenized" onClick={() => onCompare('messages')}>
            <GitCompare size={15} aria-hidden />
          </IconButton>
        )}
        <TokenViewButtons
          onCommands={onCommands}
          legend={legend}
          shown={{
            view: 'inspector',
            trajectories: [inspection.trajectory],
            markKinds: markKindsOf(inspection.marks),
            isSelected: view.selection !== undefined,
          }}
          folding={inspection}
          options={options}
          onOptions={onOptions}
        />
      </span>
    </div>
  )
}
