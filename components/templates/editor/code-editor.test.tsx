import { render } from '@testing-library/react'
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { expect, test } from 'vitest'
import { CodeEditor } from './code-editor.tsx'

interface PaintedProps {
  readonly onPaint: (frame: HTMLElement | null) => void
  readonly children: ReactNode
}

/** Reports its content as the browser paints it first: the layout effect of a parent is the last code before that. */
function Painted({ onPaint, children }: PaintedProps) {
  const frame = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    onPaint(frame.current)
  }, [onPaint])
  return <div ref={frame}>{children}</div>
}

test('The code editor has its text when it is painted first, so that the text shown before it does not disappear', () => {
  const painted: (string | null | undefined)[] = []
  render(
    <Painted onPaint={(frame) => painted.push(frame?.querySelector('[aria-label="Template"]')?.textContent)}>
      <CodeEditor label="Template" language="jinja" text="{{ name }}" problem={undefined} onChange={() => {}} />
    </Painted>,
  )
  expect(painted).toEqual(['{{ name }}'])
})
