'use client'
import { Button } from '#components/ui/button.tsx'

export default function ErrorPage({ error, reset }: { readonly error: Error; readonly reset: () => void }) {
  // Drawn again, it would ask for the same file of a build that is gone, or find the failure that is remembered.
  const isUnloaded = error.name === 'ChunkLoadError'
  return (
    <main className="grid h-dvh place-content-center gap-3 p-4 text-center">
      <h1 className="font-semibold text-lg">
        {isUnloaded ? 'A part of this page could not be loaded' : 'This page failed'}
      </h1>
      <p className="max-w-lg text-dim [overflow-wrap:anywhere]">
        {isUnloaded
          ? 'Rollscope does not respond, or it was updated after this page was opened. Recorded data is stored.'
          : error.message}
      </p>
      <div>
        <Button look="primary" onClick={isUnloaded ? () => window.location.reload() : reset}>
          {isUnloaded ? 'Reload page' : 'Try again'}
        </Button>
      </div>
    </main>
  )
}
