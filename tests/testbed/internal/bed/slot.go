package bed

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"syscall"
)

// Several testbeds may run on one machine. Each owns one of 32 slots, and with
// it a range for Services within 127.96.0.0/11, a range for load balancers
// within 127.64.0.0/11, and a block of ports. A slot is claimed by listening
// on an address of it. Every role inherits that socket, so the claim lives
// exactly as long as the last of them.
const (
	slots         = 32
	claimPort     = 20479
	firstPort     = 20480
	portsPerSlot  = 256
	serviceOctet  = 96
	balancerOctet = 64
)

// PortNames are the ports that a testbed needs.
var PortNames = []string{"apiserver", "etcd", "etcd-peer", "kcm", "scheduler", "node"}

// ErrSlotTaken says that a slot belongs to a running testbed.
var ErrSlotTaken = errors.New("the address range is taken by another running testbed")

// ServiceRange is the range of ClusterIPs of a slot.
func ServiceRange(slot int) string { return fmt.Sprintf("127.%d.0.0/16", serviceOctet+slot) }

// KubernetesIP is the ClusterIP of the Service default/kubernetes.
func KubernetesIP(slot int) string { return fmt.Sprintf("127.%d.0.1", serviceOctet+slot) }

// LoadBalancerRange is the range of load balancer addresses of a slot.
func LoadBalancerRange(slot int) string { return fmt.Sprintf("127.%d.0.0/16", balancerOctet+slot) }

// LoadBalancerIP is the n-th address of that range; the lowest and the highest
// 256 addresses are left to the testbed itself.
func LoadBalancerIP(slot int, n uint32) string {
	n %= LoadBalancerIPs
	return fmt.Sprintf("127.%d.%d.%d", balancerOctet+slot, 1+n/254, 1+n%254)
}

// LoadBalancerIPs is the number of addresses that LoadBalancerIP gives out.
const LoadBalancerIPs = 254 * 254

// Claim takes one slot. The file is the socket that must be kept open.
func Claim(slot int) (*os.File, error) {
	l, err := net.Listen("tcp4", fmt.Sprintf("127.%d.255.254:%d", balancerOctet+slot, claimPort))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, ErrSlotTaken
	}
	if err != nil {
		return nil, err
	}
	defer l.Close() // File returns a copy
	return l.(*net.TCPListener).File()
}

// ClaimFree takes the first free slot, beginning at one that depends on the
// folder, so that a testbed started anew mostly gets the addresses it had.
func ClaimFree(d Dir) (int, *os.File, error) {
	h := fnv.New32a()
	h.Write([]byte(d))
	first := int(h.Sum32() % slots)
	for i := range slots {
		slot := (first + i) % slots
		f, err := Claim(slot)
		if err == nil {
			return slot, f, nil
		}
		if !errors.Is(err, ErrSlotTaken) {
			return 0, nil, err
		}
	}
	return 0, nil, fmt.Errorf("all %d slots are taken by running testbeds: stop one with `testbed down DIR`", slots)
}

// PickPorts chooses free ports from the block of a slot. The block lies below
// the range from which the system takes ports for outgoing connections.
func PickPorts(slot int) (map[string]int, error) {
	ports := map[string]int{}
	next := firstPort + slot*portsPerSlot
	for _, name := range PortNames {
		for ; ; next++ {
			if next >= firstPort+(slot+1)*portsPerSlot {
				return nil, fmt.Errorf("no free port left between %d and %d", firstPort+slot*portsPerSlot, next-1)
			}
			if CheckPort(next) == nil {
				ports[name] = next
				next++
				break
			}
		}
	}
	return ports, nil
}

// CheckPort tells whether a port of 127.0.0.1 can be listened on.
func CheckPort(port int) error {
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	return l.Close()
}
