# Runs inside a booted system: starts what its init system did not, then keeps what nodevet says of the node,
# live and from a capture. NAME.out, NAME.err and NAME.code hold the answer to one question.
cd /lab || exit 1

if [ ! -d /run/systemd/system ]; then
  containerd >containerd.log 2>&1 &
  kubelet --config=/var/lib/kubelet/config.yaml &
fi
for _ in {1..200}; do
  ctr version >/dev/null 2>&1 && break
  sleep 0.05
done

as=()
ask() {
  local name=$1
  shift
  timeout 60 "${as[@]}" ./nodevet "$@" >"$name.out" 2>"$name.err"
  echo $? >"$name.code"
}
ask check check --format json
ask facts facts --format json
ask capture capture /tmp/captured
ask check-captured check --format json --root /tmp/captured
ask facts-captured facts --format json --root /tmp/captured
cp -r /tmp/captured .

# Nobody may read everything, and a daemon that hangs may not hang the one who asks.
chmod 755 nodevet
as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
ask facts-nobody facts --format json
as=()
pkill -STOP -x containerd
ask facts-hung facts --format json
pkill -CONT -x containerd
