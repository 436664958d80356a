// Commands to reach an export from a client.
import type { Protocol, Export } from './api/types.ts';

export interface Recipe {
  system: 'linux4' | 'linux3' | 'macos' | 'windows' | 'aws' | 'rclone' | 'boto3';
  lines: string;
}

// "0.0.0.0:2049", "[::]:2049", "http://10.0.0.1:9000": where a client finds it. `seenAs` stands for "every address".
export function endpoint(address: string, seenAs: string): { host: string; port: number; scheme: string } {
  const [, scheme = '', rest = ''] = /^(?:(https?):\/\/)?(.*)$/.exec(address) ?? [];
  const colon = rest.lastIndexOf(':');
  const host = rest.slice(0, colon);
  const any = host === '0.0.0.0' || host === '[::]' || host === '::';
  return { host: any ? seenAs : host, port: Number(rest.slice(colon + 1).replace(/\/.*$/, '')), scheme: scheme || 'http' };
}

// For a POSIX shell.
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function recipes(record: Export, protocols: readonly Protocol[], seenAs: string): Recipe[] {
  const found: Recipe[] = [];
  const nfs = protocols.find((protocol) => protocol.name === 'nfs' && protocol.open);
  if (nfs !== undefined && record.protocols.includes('nfs')) {
    const { host, port } = endpoint(nfs.address, seenAs);
    const flavor = record.security[0];
    const sec = flavor === undefined || flavor === 'sys' ? '' : `sec=${flavor},`;
    const own = port === 2049 ? '' : `,port=${port}`;
    const mountPort = `,mountport=${port}`;
    const source = quoted(`${host}:/${record.name}`);
    const target = quoted(`/mnt/${record.name}`);
    found.push({
      system: 'linux4',
      lines:
        `sudo mkdir -p ${target}\nsudo mount -t nfs -o ${sec}vers=4.2${own} ${source} ${target}\n\n` +
        `# /etc/fstab\n${fstab(host, record.name)} nfs ${sec}vers=4.2${own},_netdev 0 0`,
    });
    found.push({
      system: 'linux3',
      lines: `sudo mkdir -p ${target}\nsudo mount -t nfs -o ${sec}vers=3,tcp,nolock${own}${mountPort},mountproto=tcp ${source} ${target}`,
    });
    found.push({
      system: 'macos',
      lines: `mkdir -p ~/${quoted(record.name)}\nsudo mount -t nfs -o ${sec}vers=3,tcp,nolocks${own}${mountPort} ${source} ~/${quoted(record.name)}`,
    });
    found.push({ system: 'windows', lines: `mount -o anon \\\\${host}\\${record.name} Z:` });
  }
  const s3 = protocols.find((protocol) => protocol.name === 's3' && protocol.open);
  if (s3 !== undefined && record.protocols.includes('s3')) {
    const { host, port, scheme } = endpoint(s3.address, seenAs);
    const url = `${scheme}://${host}:${port}`;
    const bucket = record.name;
    found.push({
      system: 'aws',
      lines:
        `export AWS_ACCESS_KEY_ID=ACCESS_KEY AWS_SECRET_ACCESS_KEY=SECRET_KEY AWS_DEFAULT_REGION=us-east-1\n` +
        `aws --endpoint-url ${url} s3 ls ${quoted(`s3://${bucket}/`)}\naws --endpoint-url ${url} s3 cp report.pdf ${quoted(`s3://${bucket}/`)}`,
    });
    found.push({
      system: 'rclone',
      lines:
        `rclone config create stoa s3 provider=Other endpoint=${url} region=us-east-1 access_key_id=ACCESS_KEY secret_access_key=SECRET_KEY\n` +
        `rclone ls ${quoted(`stoa:${bucket}`)}`,
    });
    found.push({
      system: 'boto3',
      lines:
        `import boto3\n\ns3 = boto3.client("s3", endpoint_url="${url}", region_name="us-east-1",\n` +
        `                  aws_access_key_id="ACCESS_KEY", aws_secret_access_key="SECRET_KEY")\n` +
        `for item in s3.list_objects_v2(Bucket=${JSON.stringify(bucket)}).get("Contents", []):\n    print(item["Key"], item["Size"])`,
    });
  }
  return found;
}

// fstab(5): blanks are \040.
function fstab(host: string, name: string): string {
  const escape = (text: string) => text.replaceAll('\\', '\\134').replaceAll(' ', '\\040').replaceAll('\t', '\\011');
  return `${escape(`${host}:/${name}`)} ${escape(`/mnt/${name}`)}`;
}
