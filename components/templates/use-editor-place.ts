'use client'
import { useState } from 'react'
import type { ShownLine } from '#components/templates/editor/code-editor.tsx'
import type { LabPane } from '#components/templates/editor/lab-panes.tsx'
import type { LabField } from '#lib/templates/document/document.ts'
import type { LabAddress, LabPart } from './address.ts'

/** Returns the pane, part and line that the lab shows, and the actions that move there. */
export function useEditorPlace(address: LabAddress) {
  // A narrow window has one pane. A link to a tab of the result shows it.
  const [pane, setPane] = useState<LabPane>(address.tab === undefined ? 'editor' : 'result')
  const [shownLine, setShownLine] = useState<ShownLine & { readonly where: LabField }>()
  const [cursorLine, setCursorLine] = useState<number>()
  const leaveLines = () => {
    setShownLine(undefined)
    setCursorLine(undefined)
  }
  return {
    pane,
    setPane,
    shownLine,
    /** Line of the template with the cursor; undefined if another part is shown. */
    cursorLine: address.part === 'template' ? cursorLine : undefined,
    setCursorLine,
    leaveLines,
    showPart: (part: LabPart) => {
      leaveLines()
      void address.show({ part })
    },
    /** Shows and marks a line, in JSON for parts that have a form. */
    showLine: (where: LabField, line: number) => {
      setPane('editor')
      void address.show({ part: where, ...(where !== 'template' && { as: 'json' as const }) })
      setShownLine({ where, line })
    },
  }
}

/** The place that the lab shows. */
export type EditorPlace = ReturnType<typeof useEditorPlace>
