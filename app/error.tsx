'use client'
import { Button } from '#components/ui/button.tsx'

export default function ErrorPage({ error, reset }: { readonly error: Error; readonly reset: () => void }) {
  // Drawn again, it would ask for the same file of a build that is gone, or find the failure that is remembered.
  const isUnloaded = error.name === 'ChunkLoadError'
  return (
    <main className="grid h-dvh place-content-center gap-3 p-4 text-center">
      <h1 className="font-semibold text-lg">
        {isUnloaded ? 'A part of this page could not be loaded' : 'Something broke in this page'}
      </h1>
      <p className="max-w-lg text-dim [overflow-wrap:anywhere]">
        {isUnloaded
          ? 'The application does not answer, or it was updated since the page was opened. What was recorded is stored.'
          : error.message}
      </p>
      <div>
        <Button look="primary" onClick={isUnloaded ? () => window.location.reload() : reset}>
          {isUnloaded ? 'Load the page again' : 'Draw it again'}
        </Button>
      </div>
    </main>
  )
}
