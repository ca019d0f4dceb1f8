'use client'
import { Link } from '#components/shell/navigation.tsx'
import { TrajectoryPicker } from '#components/shell/trajectory-picker.tsx'

/** What the page shows before anything is chosen. */
export function CompareStart({ onChoose }: { readonly onChoose: (key: string) => void }) {
  return (
    <main className="overflow-y-auto p-4 sm:p-8">
      <div className="mx-auto max-w-2xl">
        <h1 className="font-semibold text-lg">See what retokenizing changes</h1>
        <p className="mt-1 mb-5 text-dim">
          Choose a trajectory: the ids that the model read and wrote stand on the left, and on the right what a pipeline
          would train on that keeps messages or text instead of ids. Either side can be any other trajectory too.
        </p>
        <TrajectoryPicker onChoose={onChoose} />
        <p className="mt-5 text-dim">
          How much do many of them drift, or those of a file?{' '}
          <Link href="/compare/corpus" className="text-accent underline">
            Drift report
          </Link>
        </p>
      </div>
    </main>
  )
}
