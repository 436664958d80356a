import { useEffect, useState } from 'react';
import { useAction, useLoad } from '../api/load.ts';
import { useCall } from '../api/session.tsx';
import type { Check } from '../api/types.ts';
import { bytes, count, duration, percent, time } from '../format.ts';
import { Badge, Button, Facts, Meter, Notice, Page, Panel, Problem, useSay } from '../parts/basics.tsx';
import { useWords } from '../words/words.tsx';

export function Jobs() {
  const { t, locale } = useWords();
  const call = useCall();
  const say = useSay();
  const [fast, setFast] = useState(false);
  const { data, error, reload } = useLoad<Check>('/v1/check', fast ? 500 : 5000);
  const action = useAction();
  const state = data?.state;
  useEffect(() => {
    if (state === 'running') setFast(true);
    if (fast && (state === 'done' || state === 'failed')) {
      setFast(false);
      say(t.jobs.finished);
    }
  }, [state, fast, say, t]);
  const start = async (readData: boolean) => {
    if (!(await action.run(() => call('POST', '/v1/check', { read_data: readData })))) return;
    say(t.jobs.startedNow);
    setFast(true);
    reload();
  };
  const took = data?.started !== undefined && data.finished !== undefined ? (Date.parse(data.finished) - Date.parse(data.started)) / 1000 : undefined;
  const tones = { idle: 'plain', running: 'warn', done: 'good', failed: 'bad' } as const;
  return (
    <Page title={t.pages.jobs} intro={t.jobs.intro}>
      <Problem error={error ?? action.error} />
      <Panel
        title={t.jobs.check}
        actions={
          <>
            <Button kind="primary" disabled={state === 'running' || action.busy} onClick={() => void start(false)}>
              {t.jobs.startQuick}
            </Button>
            <Button disabled={state === 'running' || action.busy} onClick={() => void start(true)}>
              {t.jobs.startFull}
            </Button>
          </>
        }
      >
        <p className="muted">{t.jobs.explain}</p>
        {data !== undefined && (
          <Facts
            facts={[
              [t.health.state, <Badge tone={tones[data.state]}>{t.jobs.states[data.state]}</Badge>],
              ...(data.started === undefined ? [] : ([[t.health.started, time(data.started, locale)]] as const)),
              ...(took === undefined ? [] : ([[t.jobs.took, duration(took, locale)]] as const)),
              ...(data.read_data === undefined ? [] : ([[t.jobs.content, data.read_data ? t.common.yes : t.common.no]] as const)),
            ]}
          />
        )}
        {data?.state === 'running' && (
          <Meter
            part={data.done ?? 0}
            whole={Math.max(1, data.total ?? 0)}
            label={t.jobs.progress}
            text={t.jobs.progressText(count(data.done ?? 0, locale), count(data.total ?? 0, locale), percent(data.done ?? 0, Math.max(1, data.total ?? 0), locale))}
          />
        )}
        {data?.state === 'failed' && <Notice tone="bad">{data.error}</Notice>}
        {data?.report !== undefined && (
          <>
            <Notice tone={data.report.ok ? 'good' : 'bad'}>{data.report.ok ? t.jobs.noProblem : t.jobs.problems(count(data.report.problem_count, locale))}</Notice>
            <Facts
              facts={[
                [t.jobs.inodes, count(data.report.inodes, locale)],
                [t.jobs.directories, count(data.report.directories, locale)],
                [t.jobs.files, count(data.report.files, locale)],
                [t.jobs.blobs, count(data.report.blobs, locale)],
                [t.jobs.bytes, bytes(data.report.bytes, locale)],
              ]}
            />
            {data.report.problems.length > 0 && (
              <ul className="problems">
                {data.report.problems.map((problem) => (
                  <li key={problem.text} lang="en">
                    {problem.text}
                  </li>
                ))}
              </ul>
            )}
          </>
        )}
      </Panel>
    </Page>
  );
}
