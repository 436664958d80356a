import { useEffect, useRef, useState } from 'react';
import { useLoad } from '../api/load.ts';
import { useCall } from '../api/session.tsx';
import { withQuery } from '../api/client.ts';
import { resources } from '../api/types.ts';
import type { QosClass, QosLimits, QosList, Resource } from '../api/types.ts';
import { bytesPerSecond, bytesText, count, parseBytes, parseCount, perSecond } from '../format.ts';
import { Badge, Button, FormDialog, Meter, SelectField, TextField } from '../parts/basics.tsx';
import { ChangeButton, ListPage, Pager, RemoveButton, RemoveDialog } from '../parts/records.tsx';
import { useWords } from '../words/words.tsx';

// Rates of each QoS class between the last two answers.
function useRates(list: QosList | undefined): Map<string, Record<Resource, number>> {
  const last = useRef<QosList>();
  const [rates, setRates] = useState(new Map<string, Record<Resource, number>>());
  useEffect(() => {
    if (list === undefined || list === last.current) return;
    const before = last.current;
    last.current = list;
    const seconds = before === undefined ? 0 : (list.time_ns - before.time_ns) / 1e9;
    if (before === undefined || !(seconds > 0.1)) return;
    const found = new Map<string, Record<Resource, number>>();
    for (const qosClass of list.qos_classes) {
      const earlier = before.qos_classes.find((other) => other.target === qosClass.target);
      if (earlier === undefined) continue;
      const rate = (resource: Resource) => Math.max(0, qosClass.use[resource] - earlier.use[resource]) / seconds;
      found.set(qosClass.target, {
        read_bytes: rate('read_bytes'),
        write_bytes: rate('write_bytes'),
        read_ops: rate('read_ops'),
        write_ops: rate('write_ops'),
        metadata_ops: rate('metadata_ops'),
      });
    }
    setRates(found);
  }, [list]);
  return rates;
}

const isBytes = (resource: Resource) => resource === 'read_bytes' || resource === 'write_bytes';

export function Qos() {
  const { t, locale } = useWords();
  const [after, setAfter] = useState<readonly string[]>([]);
  const { data, error, reload } = useLoad<QosList>(withQuery('/v1/qos/classes', { limit: 200, after: after[after.length - 1] }), 2000);
  const rates = useRates(data);
  const [setting, setSetting] = useState<QosClass | 'new'>();
  const [leaving, setLeaving] = useState<QosClass>();
  const amount = (resource: Resource, value: number) => (isBytes(resource) ? bytesPerSecond(value, locale) : perSecond(value, locale));
  const cell = (qosClass: QosClass, resource: Resource) => {
    const now = rates.get(qosClass.target)?.[resource];
    const limit = qosClass.limits[resource];
    const guarantee = qosClass.limits[`guarantee_${resource}`];
    const text = now === undefined ? '–' : amount(resource, now);
    return (
      <>
        {limit === null ? text : <Meter part={now ?? 0} whole={limit} label={t.qos.resources[resource]} text={t.quotas.of(text, amount(resource, limit))} />}
        {guarantee !== null && <span className="muted"> {t.qos.atLeast(amount(resource, guarantee))}</span>}
      </>
    );
  };
  return (
    <ListPage<QosClass>
      title={t.pages.qos}
      intro={t.qos.intro}
      actions={
        <Button kind="primary" onClick={() => setSetting('new')}>
          {t.qos.set}
        </Button>
      }
      list={t.qos.list}
      rows={data?.qos_classes}
      error={error}
      rowKey={(qosClass) => qosClass.target}
      empty={t.qos.none}
      columns={[
        { key: 'target', head: t.qos.target, cell: (qosClass) => qosClass.target, names: true },
        ...resources.map((resource) => ({ key: resource, head: t.qos.resources[resource], cell: (qosClass: QosClass) => cell(qosClass, resource) })),
        {
          key: 'waiting',
          head: t.qos.waiting,
          cell: (qosClass) => (
            <>
              {qosClass.use.waiting > 0 ? <Badge tone="warn">{count(qosClass.use.waiting, locale)}</Badge> : '0'}
              {qosClass.use.parked + qosClass.use.refused > 0 && <span className="more">{t.qos.sofar(count(qosClass.use.parked, locale), count(qosClass.use.refused, locale))}</span>}
            </>
          ),
        },
        { key: 'weight', head: t.qos.weight, cell: (qosClass) => count(qosClass.limits.weight, locale), numeric: true },
        {
          key: 'do',
          head: '',
          cell: (qosClass) => (
            <div className="row-actions">
              <ChangeButton name={qosClass.target} onClick={() => setSetting(qosClass)} />
              <RemoveButton name={qosClass.target} onClick={() => setLeaving(qosClass)} />
            </div>
          ),
        },
      ]}
    >
      <Pager begins={after} next={data?.next_after} onTurn={setAfter} />
      {setting !== undefined && <QosForm qosClass={setting === 'new' ? undefined : setting} onClose={() => setSetting(undefined)} onDone={reload} />}
      {leaving !== undefined && (
        <RemoveDialog name={leaving.target} url={withQuery('/v1/qos/class', { target: leaving.target })} reload={reload} onClose={() => setLeaving(undefined)}>
          {t.qos.removeWarning}
        </RemoveDialog>
      )}
    </ListPage>
  );
}

const kinds = ['directory', 'user', 'group', 'client', 'protocol', 'export'] as const;
type Kind = (typeof kinds)[number];

function QosForm({ qosClass, onClose, onDone }: { qosClass: QosClass | undefined; onClose(): void; onDone(): void }) {
  const { t } = useWords();
  const call = useCall();
  const [kind, setKind] = useState<Kind>('directory');
  const [name, setName] = useState('');
  const first = (key: keyof QosLimits, asBytes: boolean) => {
    const value = qosClass?.limits[key] ?? null;
    return value === null ? '' : asBytes ? bytesText(value) : String(value);
  };
  const [limits, setLimits] = useState(() =>
    Object.fromEntries(resources.flatMap((resource) => [[resource, first(resource, isBytes(resource))], [`guarantee_${resource}`, first(`guarantee_${resource}`, isBytes(resource))]])),
  );
  const [burst, setBurst] = useState(qosClass === undefined ? '' : String(qosClass.limits.burst_ms));
  const [weight, setWeight] = useState(qosClass === undefined ? '' : String(qosClass.limits.weight));
  const target = qosClass?.target ?? (kind === 'directory' ? name : `${kind}:${name}`);
  const value = (text: string, asBytes: boolean) => (text.trim() === '' ? null : ((asBytes ? parseBytes(text) : parseCount(text)) ?? text));
  const work = async () => {
    const body: Record<string, unknown> = {};
    for (const resource of resources) {
      for (const key of [resource, `guarantee_${resource}`]) body[key] = value(limits[key] ?? '', isBytes(resource));
    }
    if (burst.trim() !== '') body['burst_ms'] = parseCount(burst) ?? burst;
    if (weight.trim() !== '') body['weight'] = parseCount(weight) ?? weight;
    await call('PUT', withQuery('/v1/qos/class', { target }), body);
    onDone();
  };
  const field = (key: string, label: string, asBytes: boolean) => (
    <TextField key={key} label={label} value={limits[key] ?? ''} onValue={(text) => setLimits({ ...limits, [key]: text })} placeholder={asBytes ? '100MiB' : '500'} />
  );
  return (
    <FormDialog title={qosClass === undefined ? t.qos.set : t.common.changeOne(qosClass.target)} submit={t.common.save} done={t.common.saved(target)} work={work} onClose={onClose} wide>
      {qosClass === undefined && (
        <div className="pair">
          <SelectField label={t.common.kind} value={kind} onValue={(next) => setKind(next as Kind)} options={kinds.map((one) => [one, t.qos.kinds[one]] as const)} />
          <TextField label={t.qos.kinds[kind]} hint={t.qos.nameHints[kind]} value={name} onValue={setName} required />
        </div>
      )}
      <fieldset>
        <legend>{t.qos.limits}</legend>
        <p className="hint">{t.qos.limitsHint}</p>
        <div className="pair">{resources.map((resource) => field(resource, t.qos.resources[resource], isBytes(resource)))}</div>
      </fieldset>
      <details>
        <summary>{t.qos.more}</summary>
        <fieldset>
          <legend>{t.qos.guarantees}</legend>
          <p className="hint">{t.qos.guaranteesHint}</p>
          <div className="pair">{resources.map((resource) => field(`guarantee_${resource}`, t.qos.guaranteeOf(t.qos.resources[resource]), isBytes(resource)))}</div>
        </fieldset>
        <div className="pair">
          <TextField label={t.qos.burst} value={burst} onValue={setBurst} inputMode="numeric" />
          <TextField label={t.qos.weight} hint={t.qos.weightHint} value={weight} onValue={setWeight} inputMode="numeric" />
        </div>
      </details>
    </FormDialog>
  );
}
