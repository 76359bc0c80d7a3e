// Replaces framework/integration/cluster_direct.go of go.etcd.io/etcd/tests/v3: clients use a gateway in front of each member.

//go:build !cluster_proxy

package integration

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3election/v3electionpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
)

const ThroughProxy = false

func ToGRPC(c *clientv3.Client) GRPCAPI {
	return GRPCAPI{
		pb.NewClusterClient(c.ActiveConnection()),
		pb.NewKVClient(c.ActiveConnection()),
		pb.NewLeaseClient(c.ActiveConnection()),
		pb.NewWatchClient(c.ActiveConnection()),
		pb.NewMaintenanceClient(c.ActiveConnection()),
		pb.NewAuthClient(c.ActiveConnection()),
		v3lockpb.NewLockClient(c.ActiveConnection()),
		v3electionpb.NewElectionClient(c.ActiveConnection()),
	}
}

// A gateway serves the clients of one member and ends with the last of them.
type gateway struct {
	start   sync.Once
	clients int
	address string
	err     error
	stop    func()
}

var (
	mu       sync.Mutex
	gateways = map[string]*gateway{}
)

// Clients with TLS connect to the members themselves: their keys exist in memory only.
func newClientV3(cfg clientv3.Config) (*clientv3.Client, error) {
	if cfg.TLS != nil {
		return clientv3.New(cfg)
	}
	var endpoints, used []string
	release := func() {
		for _, name := range used {
			closeGateway(name)
		}
	}
	for _, endpoint := range cfg.Endpoints {
		name, g, err := openGateway(endpoint)
		used = append(used, name)
		if err != nil {
			release()
			return nil, err
		}
		endpoints = append(endpoints, "http://"+g.address)
	}
	cfg.Endpoints = endpoints
	c, err := clientv3.New(cfg)
	if err != nil {
		release()
		return nil, err
	}
	go func() {
		<-c.Ctx().Done()
		release()
	}()
	return c, nil
}

func openGateway(endpoint string) (string, *gateway, error) {
	network, address, found := strings.Cut(endpoint, "://")
	if !found {
		network, address = "tcp", endpoint
	}
	if network == "unix" {
		// The tests name sockets relative to their working directory.
		if absolute, err := filepath.Abs(address); err == nil {
			address = absolute
		}
	} else {
		network = "tcp"
	}
	mu.Lock()
	g := gateways[address]
	if g == nil {
		g = &gateway{}
		gateways[address] = g
	}
	g.clients++
	mu.Unlock()
	g.start.Do(func() { g.address, g.stop, g.err = startGateway(network, address) })
	return address, g, g.err
}

func closeGateway(name string) {
	mu.Lock()
	g := gateways[name]
	g.clients--
	last := g.clients == 0
	if last {
		delete(gateways, name)
	}
	mu.Unlock()
	if last && g.err == nil {
		g.stop()
	}
}

// startGateway returns the address of a gateway whose source is the member with the given address.
func startGateway(network, member string) (string, func(), error) {
	source, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	go relay(source, network, member)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	address := free.Addr().String()
	free.Close()
	folder, err := os.MkdirTemp("", "gateway")
	if err != nil {
		return "", nil, err
	}
	file := filepath.Join(folder, "gateway.yaml")
	settings := fmt.Sprintf("listen: %s\nrest: {enabled: false}\nsource: {endpoints: [\"http://%s\"], discovery: configured}\nwrites: forward\n",
		address, source.Addr())
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		return "", nil, err
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return "", nil, err
	}
	process := exec.Command(os.Getenv("GATEWAY_PROGRAM"), "gateway", "--config", file)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "UNDERSTUDY_") {
			process.Env = append(process.Env, variable)
		}
	}
	process.Env = append(process.Env, "UNDERSTUDY_JAVA_OPTS=-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx128m")
	process.Stdout, process.Stderr = log, log
	if err := process.Start(); err != nil {
		return "", nil, err
	}
	stop := func() {
		process.Process.Kill()
		process.Wait()
		source.Close()
		log.Close()
		os.RemoveAll(folder)
	}
	if err := awaitRange(address); err != nil {
		text, _ := os.ReadFile(log.Name())
		stop()
		return "", nil, fmt.Errorf("gateway in front of %s serves no range: %w\n%s", member, err, text)
	}
	return address, stop, nil
}

func awaitRange(address string) error {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + address}, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer c.Close()
	kv := pb.NewKVClient(c.ActiveConnection())
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, err = kv.Range(ctx, &pb.RangeRequest{Key: []byte("/"), Serializable: true})
		cancel()
		code := status.Code(err)
		// Other codes, such as those of authentication, are answers as well.
		if code != codes.Unavailable && code != codes.DeadlineExceeded && code != codes.ResourceExhausted {
			return nil
		}
		if time.Now().After(end) {
			return err
		}
	}
}

func relay(listener net.Listener, network, address string) {
	for {
		from, err := listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial(network, address)
		if err != nil {
			from.Close()
			continue
		}
		pipe := func(to, from net.Conn) {
			io.Copy(to, from)
			to.Close()
			from.Close()
		}
		go pipe(to, from)
		go pipe(from, to)
	}
}
