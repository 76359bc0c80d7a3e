// Replaces framework/integration/cluster_direct.go of go.etcd.io/etcd/tests/v3: clients use a gateway in front of each member.

//go:build !cluster_proxy

package integration

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3election/v3electionpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
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
	clients  sync.WaitGroup
	testEnd  = make(chan struct{})

	// Of the cluster created last.
	progressInterval time.Duration
	requestBytes     uint

	lastPort atomic.Int32

	start    sync.Once
	startErr error
	folder   string
	process  io.WriteCloser
)

// useSettings is called for each new member: .ci/etcd-tests adds the call to cluster.go.
func useSettings(m *Member) {
	progressInterval = m.WatchProgressNotifyInterval
	requestBytes = m.MaxRequestBytes
}

// Clients with TLS connect to the members themselves, since their keys exist in memory only; so do clients of learners.
func newClientV3(cfg clientv3.Config) (*clientv3.Client, error) {
	if cfg.TLS != nil || len(cfg.Endpoints) == 0 || strings.HasPrefix(cfg.Endpoints[0], "unixs:") || isLearner(cfg.Endpoints[0]) {
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
			// A learner that has just started does not know its role.
			if isLearner(endpoint) {
				return clientv3.New(cfg)
			}
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
	mu.Lock()
	end := testEnd
	mu.Unlock()
	clients.Add(1)
	go func() {
		defer clients.Done()
		select {
		case <-c.Ctx().Done():
		case <-end:
		}
		release()
	}()
	return c, nil
}

// endGateways ends all gateways before etcd's search for leaked goroutines; some tests close no client.
func endGateways() {
	mu.Lock()
	close(testEnd)
	testEnd = make(chan struct{})
	mu.Unlock()
	clients.Wait()
}

// isLearner returns whether the endpoint is that of a learner, which cannot be the only source of a gateway.
func isLearner(endpoint string) bool {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
	if err != nil {
		return false
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	response, err := pb.NewMaintenanceClient(c.ActiveConnection()).Status(ctx, &pb.StatusRequest{})
	return err == nil && response.IsLearner
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
	start.Do(startProcess)
	if startErr != nil {
		return "", nil, startErr
	}
	source, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go relay(ctx, source, network, member)
	address := freeAddress()
	interval := progressInterval
	if interval == 0 {
		interval = v3rpc.GetProgressReportInterval()
	}
	file := filepath.Join(folder, address+".yaml")
	// The user of etcd's tests with authentication; etcd refuses the login before.
	settings := fmt.Sprintf("listen: %s\nrest: {enabled: false}\n"+
		"source: {endpoints: [\"http://%s\"], discovery: configured, user: root, password: \"123\"}\n"+
		"writes: forward\ncloseTimeout: 100ms\nwatches: {progressInterval: %dms}\nlimits: {maxRequestBytes: %d}\n",
		address, source.Addr(), interval.Milliseconds(), requestBytes+512*1024)
	if err = os.WriteFile(file, []byte(settings), 0o600); err == nil {
		_, err = fmt.Fprintln(process, "start", file)
	}
	if err != nil {
		cancel()
		return "", nil, err
	}
	stop := func() {
		fmt.Fprintln(process, "stop", file)
		cancel()
	}
	if err := awaitReady(address, network+"://"+member); err != nil {
		stop()
		return "", nil, fmt.Errorf("gateway %s in front of %s is not ready: %w; see %s/log", address, member, err, folder)
	}
	return address, stop, nil
}

// freeAddress returns one below the ports that the system gives to clients, which could take it before the gateway does.
func freeAddress() string {
	for {
		address := fmt.Sprintf("127.0.0.1:%d", 23000+lastPort.Add(1)%9000)
		if free, err := net.Listen("tcp", address); err == nil {
			free.Close()
			return address
		}
	}
}

// startProcess starts the process that runs all gateways. It ends with its standard input.
func startProcess() {
	folder, startErr = os.MkdirTemp(os.Getenv("GATEWAY_LOGS"), "gateways")
	if startErr != nil {
		return
	}
	java := exec.Command(filepath.Join(os.Getenv("JAVA_HOME"), "bin", "java"),
		"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx1g", "-cp", os.Getenv("GATEWAY_CLASSES"), "Gateways")
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		startErr = err
		return
	}
	java.Stdout, java.Stderr = log, log
	if process, startErr = java.StdinPipe(); startErr == nil {
		startErr = java.Start()
	}
}

// awaitReady waits until the gateway answers a range and has its replica, which it never has if the source needs a login.
func awaitReady(address, source string) error {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + address}, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer c.Close()
	kv := pb.NewKVClient(c.ActiveConnection())
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, err = kv.Range(ctx, &pb.RangeRequest{Key: []byte("/"), Serializable: true})
		cancel()
		code := status.Code(err)
		// Other codes, such as those of authentication, are answers as well.
		answered := code != codes.Unavailable && code != codes.DeadlineExceeded && code != codes.ResourceExhausted
		if answered && (time.Since(began) > 5*time.Second || isReady(address)) {
			return nil
		}
		if time.Since(began) > time.Minute || (!answered && isLearner(source)) {
			return fmt.Errorf("not ready after %s; last error: %w", time.Since(began), err)
		}
	}
}

func isReady(address string) bool {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + address + "/readyz")
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func relay(ctx context.Context, listener net.Listener, network, address string) {
	context.AfterFunc(ctx, func() { listener.Close() })
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
		closeBoth := func() {
			to.Close()
			from.Close()
		}
		context.AfterFunc(ctx, closeBoth)
		pipe := func(to, from net.Conn) {
			// Without splice, whose pipes are freed by a goroutine that etcd's search for leaks would find.
			io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
			closeBoth()
		}
		go pipe(to, from)
		go pipe(from, to)
	}
}
