'use client'
import { type ComponentProps, lazy, Suspense } from 'react'
import type { CodeEditor } from './code-editor.tsx'

// CodeMirror is larger than everything else on the page together: the text is there before it.
const Loaded = lazy(async () => ({ default: (await import('./code-editor.tsx')).CodeEditor }))

export function LazyCodeEditor(props: ComponentProps<typeof CodeEditor>) {
  return (
    <Suspense
      fallback={
        <pre className="h-full overflow-hidden whitespace-pre-wrap py-2 pl-16 font-mono text-[12.5px] leading-5">
          {props.text}
        </pre>
      }
    >
      <Loaded key={props.language} {...props} />
    </Suspense>
  )
}
